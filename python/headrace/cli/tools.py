"""The programs of the package that need no Python, as commands: each becomes the program."""

import contextlib
import ctypes
import os
import sys
from typing import NoReturn

from headrace import launcher
from headrace.errors import HeadraceError
from headrace.plugins import library_dir


def bench() -> NoReturn:
    """`headrace-bench`: one kernel on one libhdf5, also under mpirun."""
    _become("headrace-bench", *_library())


def model() -> NoReturn:
    """`headrace-model`: ledgers replayed on a simulated parallel file system."""
    _become("headrace-model")


def _library() -> list[str]:
    """The libhdf5 that `headrace bench` would take, where none is given and the system finds none.

    `--help` needs one, too.
    """
    if any(word.split("=")[0] == "--hdf5" for word in sys.argv[1:]):
        return []
    with contextlib.suppress(OSError):
        ctypes.CDLL("libhdf5.so")
        return []
    from headrace.measuring.programs import ProgramError, hdf5  # noqa: PLC0415, few need it

    try:
        return ["--hdf5", str(hdf5(None, parallel=launcher.ranks(os.environ) > 1).file)]
    except ProgramError:
        return []  # the program says what it needs


def _become(name: str, *options: str) -> NoReturn:
    try:
        file = library_dir().parent / "bin" / name
        os.execv(file, [name, *sys.argv[1:], *options])
    except HeadraceError as error:
        sys.exit(f"{name}: {error}")
    except OSError as error:
        sys.exit(
            f"{name}: {error.strerror}: it is built where CLI11 and inih are installed; "
            "`make demo` leaves it out, `make` does not"
        )
