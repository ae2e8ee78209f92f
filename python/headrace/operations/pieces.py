"""What a Python program may ask of the stripe layer; include/headrace/stripe.h is the same for C.

Files are those of h5py, or anything of h5py that is in one, or netCDF4's Dataset.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from headrace.operations.operate import ON_FILE, operate

_WHEN: Final = ("later", "close", "background")


class _Fuse(ctypes.Structure):
    """headrace_fuse_t."""

    _fields_ = (("size", c_size_t), ("when", c_int))


class _Subfiles(ctypes.Structure):
    """headrace_subfiles_t."""

    _fields_ = (
        ("size", c_size_t),
        ("count", c_size_t),
        ("stripe", c_uint64),
        ("path", ctypes.POINTER(c_char_p)),
        ("written", c_void_p),
    )


@dataclass(frozen=True, slots=True)
class Subfile:
    """A piece of an open file.

    Attributes:
        path: Where it is.
        written: Whether this process has written to it; below the async layer always true.
    """

    path: Path
    written: bool


def fuse(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    verify: bool = False,
) -> None:
    """Makes one HDF5 file of the pieces that a closed file lies in, as `headrace fuse`.

    Without `output` it takes the place of `file`, and the pieces are removed. It may run in a
    thread beside the program's computing. Raises FileError.
    """
    from headrace.stripe.fuse import make_whole  # noqa: PLC0415, few programs need it
    from headrace.stripe.sets import find  # noqa: PLC0415

    target = None if output is None else Path(output)
    make_whole(find(Path(file)), target, lambda _: None, verify=verify)


def fuse_when_closed(
    file: Any, when: Literal["later", "close", "background"] = "background"
) -> bool:
    """Says for an open file what the option `fuse` says for all; over MPI on all ranks alike.

    False, and nothing is done, where the file is not in pieces.
    """
    if when not in _WHEN:
        raise ValueError(f"{when!r} is none of {', '.join(_WHEN)}")
    args = _Fuse(ctypes.sizeof(_Fuse), _WHEN.index(when))
    return operate(file, ON_FILE, b"headrace.stripe.fuse", args)


def subfiles(file: Any) -> list[Subfile]:
    """The pieces of an open file, in order: stripe s is in number s % len(); empty without."""
    answer = _Subfiles(ctypes.sizeof(_Subfiles))
    if not operate(file, ON_FILE, b"headrace.stripe.subfiles", answer):
        return []
    written = ctypes.string_at(answer.written, answer.count)
    return [
        Subfile(Path(os.fsdecode(answer.path[k])), bool(written[k])) for k in range(answer.count)
    ]
