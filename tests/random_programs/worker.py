"""Processes that run programs, under the layers that their environment names.

Reads requests from stdin, a line of JSON each, and answers each by a line.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import io
import json
import mmap
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

from random_programs import dump, prelude

PROGRAMS = 25  # that a process runs at most
WAITING, WORKING, ANSWERED, ENDED = range(4)
# What programs and libraries print must not get between the answers.
ANSWERS = os.dup(1)
os.dup2(2, 1)
KEPT: dict[str, Any] = {}


def attempt(statement: str, names: dict[str, Any]) -> dict[str, Any]:
    prelude.SHOWN.clear()
    failed: dict[str, Any] = {}
    try:
        exec(statement, names)  # noqa: S102
    except Exception as error:
        failed = {"error": type(error).__name__, "message": str(error)[:400]}
    return {"shown": list(prelude.SHOWN), **failed}


def open_objects() -> int:
    """Without datatypes: h5py keeps some of those."""
    kinds = h5py.h5f.OBJ_ALL & ~h5py.h5f.OBJ_DATATYPE
    return int(h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, kinds))


def run(folder: Path, statements: list[str], close: bool) -> dict[str, Any]:
    names = {**vars(prelude), "h5py": h5py, "np": np, "hdf5plugin": hdf5plugin}
    names |= {"io": io, "shutil": shutil}
    folder.mkdir(parents=True)
    os.chdir(folder)
    results = [attempt(statement, names) for statement in statements]
    if not close:
        KEPT.update(names)  # left to HDF5, which closes what is open when the process exits
        return {"results": results}
    names.clear()
    prelude.SHOWN.clear()
    gc.collect()
    return {"results": results, "left": open_objects()}


def copy_all(folder: Path, to: Path, plain: bool) -> None:
    """The files of one folder into another, which has containers where they are not to be plain."""
    to.mkdir()
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if plain:
        access.set_fapl_stdio()
    for path in sorted(folder.glob("*.h5")):
        try:
            old = h5py.File(path, "r")
        except OSError:
            continue  # one of several that are one file, or one that HDF5 did not end
        with old:
            creation = old.id.get_create_plist()
            creation.set_userblock(0)
            with h5py.File(h5py.h5f.create(bytes(to / path.name), 0, creation, access)) as new:
                h5py.h5o.copy(old.id, b"/", new.id, b"/")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if "dump" in request:
        os.chdir(request["dump"])
        return {"dump": dump.of_folder(Path(request["dump"])), "left": 0}
    if "copy" in request:
        copy_all(Path(request["copy"]), Path(request["to"]), request["plain"])
        return {"left": 0}
    if "settle" in request:
        for path in Path(request["settle"]).glob("*.h5"):
            with contextlib.suppress(OSError):
                h5py.File(path, "r+").close()
        return {"left": 0}
    return run(Path(request["folder"]), request["statements"], request["close"])


def next_request() -> dict[str, Any] | None:
    """Unbuffered: what is read here must not be missing in another process."""
    line = b""
    while not line.endswith(b"\n"):
        got = os.read(0, 1 << 16)
        if not got:
            return None
        line += got
    made: dict[str, Any] = json.loads(line)
    return made


def say(answer: dict[str, Any]) -> None:
    raw = json.dumps(answer).encode() + b"\n"
    while raw:
        raw = raw[os.write(ANSWERS, raw) :]


def serve(state: mmap.mmap, last: int) -> None:
    """Answers requests until HDF5 may not be as it was at first; the last when it has exited."""
    for _ in range(PROGRAMS):
        state[0] = WAITING
        request = next_request()
        if request is None:
            state[0] = ENDED
            return
        state[0] = WORKING
        answered = answer(request)
        if answered.get("left", 1):
            os.pwrite(last, json.dumps(answered).encode(), 0)
            state[0] = ANSWERED
            return
        say(answered)
    state[0] = WAITING


def in_child() -> bool:
    """In a process of its own: what a program does to HDF5 must reach few others."""
    state = mmap.mmap(-1, 1)
    last = os.memfd_create("answer")
    child = os.fork()
    if child == 0:
        serve(state, last)
        # As a program exits, without the time Python takes for it.
        ctypes.CDLL(None).exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(last, "rb") as file:
        file.seek(0)
        raw = file.read()
    if status and state[0] in (WORKING, ANSWERED):
        say({"lost": status})
    elif status:
        sys.exit(f"an earlier program ended its process at exit, with status {status}")
    elif state[0] == ANSWERED:
        say(json.loads(raw))
    return bool(state[0] != ENDED)


def main() -> None:
    faulthandler.enable()
    h5py._errors.silence_errors()  # noqa: SLF001
    gc.freeze()
    while in_child():
        pass


if __name__ == "__main__":
    main()
