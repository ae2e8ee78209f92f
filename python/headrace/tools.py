"""The programs of the package that need no Python, as commands: each becomes the program."""

import os
import sys
from typing import NoReturn

from headrace.errors import HeadraceError
from headrace.plugins import library_dir


def bench() -> NoReturn:
    """`headrace-bench`: one kernel on one libhdf5, also under mpirun."""
    _become("headrace-bench")


def model() -> NoReturn:
    """`headrace-model`: ledgers replayed on a simulated parallel file system."""
    _become("headrace-model")


def _become(name: str) -> NoReturn:
    try:
        file = library_dir().parent / "bin" / name
        os.execv(file, [name, *sys.argv[1:]])
    except HeadraceError as error:
        sys.exit(f"{name}: {error}")
    except OSError as error:
        sys.exit(f"{name}: {error.strerror}: it is built where CLI11 and inih are installed")
