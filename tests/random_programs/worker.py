"""A process that runs one program after another, under the layers that its environment names.

Reads requests from stdin, a line of JSON each, and answers each by a line.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

from random_programs import dump, prelude

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


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if "dump" in request:
        os.chdir(request["dump"])
        return {"dump": dump.of_folder(Path(request["dump"]))}
    return run(Path(request["folder"]), request["statements"], request["close"])


def in_child(request: dict[str, Any]) -> dict[str, Any]:
    """In a process of its own: what one program does to HDF5 must not reach the next."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        with open(out, "w") as pipe:  # noqa: PTH123
            json.dump(answer(request), pipe)
        # As a program exits, without the time Python takes for it.
        ctypes.CDLL(None).exit(0)
    os.close(out)
    with open(into) as pipe:  # noqa: PTH123
        raw = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(raw) if status == 0 else {"lost": status}


def main() -> None:
    faulthandler.enable()
    h5py._errors.silence_errors()  # noqa: SLF001
    # What programs and libraries print must not get between the answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.freeze()
    for line in sys.stdin:
        out.write(json.dumps(in_child(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
