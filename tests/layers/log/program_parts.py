"""What several programs of these tests call, in processes of their own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path


def told(action: Callable[[], object], kinds: tuple[type[Exception], ...] = (OSError,)) -> str:
    """The error of an action that must fail."""
    try:
        action()
    except kinds as error:
        return str(error)
    raise AssertionError("nothing is told")


def hdf5_of_h5py() -> ctypes.CDLL:
    """The libhdf5 that h5py has loaded, for functions that h5py does not offer."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    paths = [line.split()[-1] for line in maps if "libhdf5" in line]
    return ctypes.CDLL(next(path for path in paths if "_hl" not in path))
