"""The copies of libhdf5 in this process, found without touching their state."""

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace._inspect import defines

# A symbol that each libhdf5 has and nothing else; asking for it calls nothing.
_MARK: Final = "H5get_libversion"
# An id that is invalid until the library has set up its datatypes.
_ID: Final = "H5T_NATIVE_INT_g"
_INVALID_ID: Final = -1


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """A libhdf5, or a program that contains one."""

    file: Path
    initialised: bool


def loaded_hdf5() -> list[LoadedLibrary]:
    """All copies in this process, in the order of their addresses."""
    return [
        LoadedLibrary(Path(file), _initialised(library))
        for file in _mapped_objects()
        if (library := _open(file)) is not None and defines(library, _MARK, file)
    ]


def _mapped_objects() -> Iterator[str]:
    """Files that are mapped with code in them."""
    seen = set()
    for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
            seen.add(fields[5])
    yield from sorted(seen)


def _open(file: str) -> ctypes.CDLL | None:
    """A handle of a library that is loaded already; the handle is never given back, nor needs to.

    The program itself has no name to open it by.
    """
    name = None if Path(file) == Path("/proc/self/exe").resolve() else file
    try:
        return ctypes.CDLL(name, os.RTLD_NOLOAD | os.RTLD_LAZY | os.RTLD_LOCAL)
    except OSError:
        return None


def _initialised(library: ctypes.CDLL) -> bool:
    """Reads a flag of the library; builds that are thread-safe in 1.14 do not export the first."""
    try:
        return bool(ctypes.c_bool.in_dll(library, "H5_libinit_g").value)
    except ValueError:
        pass
    try:
        return ctypes.c_int64.in_dll(library, _ID).value != _INVALID_ID
    except ValueError:
        return False
