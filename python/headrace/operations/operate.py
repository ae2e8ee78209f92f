"""Asks a layer below HDF5 for something of its own: HDF5's optional operations, by ctypes."""

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_ssize_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Final

from headrace.operations.calls import FLAG, ID, CallError, declare, library_of

ON_DATASET: Final = 4  # H5VL_SUBCLS_DATASET
ON_FILE: Final = 6  # H5VL_SUBCLS_FILE
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


def operate(target: Any, kind: int, name: bytes, args: ctypes.Structure | None = None) -> bool:
    """Carries out an operation on a file or dataset; False when no layer knows it there.

    Files are those of h5py, or anything of h5py that is in one, or netCDF4's Dataset; datasets
    are h5py's. Raises CallError when it fails, ValueError when the file is closed.
    """
    with _entered(target, kind) as (h5, object_id), _silent(h5):
        call = _Arguments(0, None if args is None else ctypes.addressof(args))
        if not _is_there(h5, object_id, kind, name, call):
            return False
        function = h5.H5VLfile_optional_op if kind == ON_FILE else h5.H5VLdataset_optional_op
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
    if not is_open(target):
        raise ValueError("the file is closed")
    if _of(target, "h5py"):
        import h5py  # noqa: PLC0415, it is there

        library = library_of(h5py.defs)
        with h5py._objects.phil:  # noqa: SLF001, h5py offers no other way in
            declare(library, _FUNCTIONS)
            # Asking HDF5 for the file of an object makes the layer store all chunks.
            direct = kind == ON_DATASET or isinstance(target, h5py.File)
            owner = target if direct else target.file  # kept: it owns the id
            yield library, int(owner.id.id)
    elif _of(target, "netCDF4") and kind == ON_FILE:
        library = library_of(sys.modules["netCDF4._netCDF4"])
        declare(library, _FUNCTIONS)
        yield library, _id_by_name(library, target.filepath())
    else:
        raise TypeError(f"{type(target).__name__} is nothing of h5py's, nor a file of netCDF4's")


def _of(target: Any, package: str) -> bool:
    return package in sys.modules and any(
        base.__module__.partition(".")[0] == package for base in type(target).__mro__
    )


def is_open(target: Any) -> bool:
    """Whether an object of h5py's or netCDF4's can still be used."""
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
