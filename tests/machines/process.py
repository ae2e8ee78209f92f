"""Processes whose statements come one after another, while those of others run in between.

Each request is answered by what its statements show. What `end` ends is a process of its own,
forked for the purpose: HDF5 then closes what is open, as when a program exits.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from random_programs import dump, prelude
from random_programs.worker import attempt, next_request, say

NO_MORE_REQUESTS = 77


def contents(path: str, mode: str = "r", **options: Any) -> dict[str, Any]:
    """All that is in the file, opened by a reader of its own."""
    with h5py.File(path, mode, **options) as file:
        return all_of(file)


def all_of(file: h5py.File) -> dict[str, Any]:
    made: dict[str, Any] = {"/": dump.described(file["/"])}
    dump.walk(file, "/", made)
    return made


def serve() -> int:
    names: dict[str, Any] = {**vars(prelude), "h5py": h5py, "np": np, "hdf5plugin": hdf5plugin}
    names |= {"io": io, "shutil": shutil, "contents": contents, "all_of": all_of}
    while (request := next_request()) is not None:
        if "end" in request:
            return 0
        os.chdir(Path(request["folder"]))
        say({"results": [attempt(statement, names) for statement in request["statements"]]})
    return NO_MORE_REQUESTS


def main() -> None:
    faulthandler.enable()
    h5py._errors.silence_errors()  # noqa: SLF001
    gc.freeze()
    while True:
        child = os.fork()
        if child == 0:
            # As a program exits, without the time Python takes for it.
            ctypes.CDLL(None).exit(serve())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == NO_MORE_REQUESTS:
            sys.exit(0)
        say({"ended": 0} if status == 0 else {"lost": status})


if __name__ == "__main__":
    main()
