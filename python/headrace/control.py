"""What a Python program may say to the async layer; include/headrace/async.h is the same for C.

Files are those of h5py, or anything of h5py that is in one, or netCDF4's Dataset. On native HDF5,
without the layer, nothing is done: a program that uses this runs unchanged there.
"""

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_ssize_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.calls import FLAG, ID, CallError, declare, library_of

_ON_DATASET: Final = 4  # H5VL_SUBCLS_DATASET
_ON_FILE: Final = 6  # H5VL_SUBCLS_FILE
_SUPPORTED: Final = 1  # H5VL_OPT_QUERY_SUPPORTED
_DEFAULT: Final = 0  # H5P_DEFAULT, H5E_DEFAULT, H5ES_NONE
_FILES: Final = 0x1  # H5F_OBJ_FILE
_ALL: Final = 0x1F  # H5F_OBJ_ALL: whichever file

_OPTIONAL: Final = (FLAG, [c_char_p, c_char_p, c_uint, ID, c_void_p, ID, ID])
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "H5VLfind_opt_operation": (FLAG, [c_int, c_char_p, POINTER(c_int)]),
    "H5VLquery_optional": (FLAG, [ID, c_int, c_int, POINTER(c_uint64)]),
    "H5VLfile_optional_op": _OPTIONAL,
    "H5VLdataset_optional_op": _OPTIONAL,
    "H5Eclear2": (FLAG, [ID]),
    "H5Eget_auto2": (FLAG, [ID, POINTER(c_void_p), POINTER(c_void_p)]),
    "H5Eset_auto2": (FLAG, [ID, c_void_p, c_void_p]),
    "H5Fget_obj_count": (c_ssize_t, [ID, c_uint]),
    "H5Fget_obj_ids": (c_ssize_t, [ID, c_uint, c_size_t, POINTER(ID)]),
    "H5Fget_name": (c_ssize_t, [ID, c_char_p, c_size_t]),
}


class _Arguments(ctypes.Structure):
    """H5VL_optional_args_t."""

    _fields_ = (("operation", c_int), ("args", c_void_p))


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
    _call(file, _ON_FILE, b"headrace.async.wait")


def pause(file: Any) -> None:
    """From here to resume() the worker threads leave the cores and the storage to the program.

    The workers of all files are paused, by as many calls as there are, until each was undone by
    resume() or by the close of its file. Calls of HDF5 that cannot do without them go on working.
    """
    _call(file, _ON_FILE, b"headrace.async.pause")


def resume(file: Any) -> None:
    """Undoes one pause() of the same file; CallError when there is none."""
    _call(file, _ON_FILE, b"headrace.async.resume")


@contextlib.contextmanager
def paused(file: Any) -> Iterator[None]:
    """Pauses the workers for a block of a program that needs all cores, or exact times.

    The file may be closed in the block.
    """
    pause(file)
    try:
        yield
    finally:
        if _is_open(file):
            resume(file)


def progress(file: Any) -> Progress:
    """How far the writes to the file are; waits for nothing."""
    answer = _Progress(ctypes.sizeof(_Progress))
    layer = _call(file, _ON_FILE, b"headrace.async.progress", answer)
    counts = [getattr(answer, name) for name, *_ in _Progress._fields_[1:]]
    return Progress(layer, *counts) if layer else Progress()


def why_not(dataset: Any) -> str | None:
    """Why the layer leaves the filters of an h5py dataset to HDF5, as docs/guide/async.md names it.

    An empty string when it takes them over, None when the layer is not there.
    """
    answer = _WhyNot(ctypes.sizeof(_WhyNot))
    if not _call(dataset, _ON_DATASET, b"headrace.async.why_not", answer):
        return None
    return bytes(answer.reason).decode()


def _call(target: Any, kind: int, name: bytes, args: ctypes.Structure | None = None) -> bool:
    """Carries out an operation; False when nobody knows it."""
    with _entered(target, kind) as (h5, object_id), _silent(h5):
        call = _Arguments(0, None if args is None else ctypes.addressof(args))
        if not _is_there(h5, object_id, kind, name, call):
            return False
        function = h5.H5VLfile_optional_op if kind == _ON_FILE else h5.H5VLdataset_optional_op
        function(b"", b"", 0, object_id, ctypes.byref(call), _DEFAULT, _DEFAULT)
        return True


def _is_there(h5: Any, object_id: int, kind: int, name: bytes, call: _Arguments) -> bool:
    number, flags = c_int(), c_uint64()
    try:
        h5.H5VLfind_opt_operation(kind, name, ctypes.byref(number))
        h5.H5VLquery_optional(object_id, kind, number, ctypes.byref(flags))
    except CallError:
        h5.H5Eclear2(_DEFAULT)
        return False
    call.operation = number.value
    return bool(flags.value & _SUPPORTED)


@contextlib.contextmanager
def _entered(target: Any, kind: int) -> Iterator[tuple[Any, int]]:
    """The libhdf5 of an object and the object's id there, with nobody else in the library."""
    if not _is_open(target):
        raise ValueError("the file is closed")
    if _of(target, "h5py"):
        import h5py  # noqa: PLC0415, it is there

        library = library_of(h5py.defs)
        with h5py._objects.phil:  # noqa: SLF001, h5py offers no other way in
            declare(library, _FUNCTIONS)
            # Asking HDF5 for the file of an object makes the layer store all chunks.
            direct = kind == _ON_DATASET or isinstance(target, h5py.File)
            owner = target if direct else target.file  # kept: it owns the id
            yield library, int(owner.id.id)
    elif _of(target, "netCDF4") and kind == _ON_FILE:
        library = library_of(sys.modules["netCDF4._netCDF4"])
        declare(library, _FUNCTIONS)
        yield library, _id_by_name(library, target.filepath())
    else:
        raise TypeError(f"{type(target).__name__} is nothing of h5py's, nor a file of netCDF4's")


def _of(target: Any, package: str) -> bool:
    return package in sys.modules and any(
        base.__module__.partition(".")[0] == package for base in type(target).__mro__
    )


def _is_open(target: Any) -> bool:
    return bool(target.isopen()) if hasattr(target, "isopen") else bool(target)


def _id_by_name(library: Any, path: str) -> int:
    """The file among all that are open in a library."""
    count = library.H5Fget_obj_count(_ALL, _FILES)
    ids = (ID * count)()
    for found in ids[: library.H5Fget_obj_ids(_ALL, _FILES, count, ids)]:
        size = library.H5Fget_name(found, None, 0) + 1
        name = ctypes.create_string_buffer(size)
        library.H5Fget_name(found, name, size)
        if Path(name.value.decode()).resolve() == Path(path).resolve():
            return int(found)
    return -1  # no HDF5 file: an operation on it is not there


@contextlib.contextmanager
def _silent(h5: Any) -> Iterator[None]:
    """Keeps HDF5 from printing errors, which come as exceptions."""
    function, data = c_void_p(), c_void_p()
    h5.H5Eget_auto2(_DEFAULT, ctypes.byref(function), ctypes.byref(data))
    h5.H5Eset_auto2(_DEFAULT, None, None)
    try:
        yield
    finally:
        h5.H5Eset_auto2(_DEFAULT, function, data)
