"""What a Python program may say to the async layer; include/headrace/async.h is the same for C.

Files are those of h5py, or anything of h5py that is in one, or netCDF4's Dataset. On native HDF5,
without the layer, nothing is done: a program that uses this runs unchanged there.
"""

import contextlib
import ctypes
from collections.abc import Iterator
from ctypes import c_char_p, c_size_t, c_uint64
from dataclasses import dataclass
from typing import Any

from headrace.operations.operate import ON_DATASET, ON_FILE, is_open, operate


class _Progress(ctypes.Structure):
    """headrace_progress_t."""

    _fields_ = (
        ("size", c_size_t),
        ("accepted", c_uint64),
        ("stored", c_uint64),
        ("staged", c_uint64),
        ("chunks", c_uint64),
        ("memory", c_uint64),
    )


class _WhyNot(ctypes.Structure):
    """headrace_why_not_t."""

    _fields_ = (("size", c_size_t), ("reason", c_char_p))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the writes to a file are, in bytes: data, compressed if it is, and metadata.

    Attributes:
        layer: Whether the async layer is there; without it all numbers are 0.
        accepted: Written since the file was opened; rewritten bytes count once.
        stored: Of these, in the file.
        staged: Of these, still in memory.
        chunks: Of chunks that wait for being compressed, on top of `accepted`.
        memory: What staged bytes of all files of the process take.
    """

    layer: bool = False
    accepted: int = 0
    stored: int = 0
    staged: int = 0
    chunks: int = 0
    memory: int = 0


def wait(file: Any) -> None:
    """Returns when all that was written to the file so far is in it, as far as HDF5 gave it away.

    That is `file.flush()` without the work on HDF5's own caches. Raises CallError for a write
    behind the program that failed; flush and close tell of it no more then.
    """
    operate(file, ON_FILE, b"headrace.async.wait")


def pause(file: Any) -> None:
    """From here to resume() the worker threads leave the cores and the storage to the program.

    The workers of all files are paused, by as many calls as there are, until each was undone by
    resume() or by the close of its file. Calls of HDF5 that cannot do without them go on working.
    """
    operate(file, ON_FILE, b"headrace.async.pause")


def resume(file: Any) -> None:
    """Undoes one pause() of the same file; CallError when there is none."""
    operate(file, ON_FILE, b"headrace.async.resume")


@contextlib.contextmanager
def paused(file: Any) -> Iterator[None]:
    """Pauses the workers for a block of a program that needs all cores, or exact times.

    The file may be closed in the block.
    """
    pause(file)
    try:
        yield
    finally:
        if is_open(file):
            resume(file)


def progress(file: Any) -> Progress:
    """How far the writes to the file are; waits for nothing."""
    answer = _Progress(ctypes.sizeof(_Progress))
    layer = operate(file, ON_FILE, b"headrace.async.progress", answer)
    counts = [getattr(answer, name) for name, *_ in _Progress._fields_[1:]]
    return Progress(layer, *counts) if layer else Progress()


def why_not(dataset: Any) -> str | None:
    """Why the layer leaves the filters of an h5py dataset to HDF5, as docs/guide/async.md names it.

    An empty string when it takes them over, None when the layer is not there.
    """
    answer = _WhyNot(ctypes.sizeof(_WhyNot))
    if not operate(dataset, ON_DATASET, b"headrace.async.why_not", answer):
        return None
    return bytes(answer.reason).decode()
