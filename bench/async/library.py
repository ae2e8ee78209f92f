"""The libhdf5 of h5py's wheel by ctypes: calls that cost a microsecond, and those h5py lacks."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import h5py

from headrace.operations.calls import FLAG as _FLAG
from headrace.operations.calls import ID as _ID
from headrace.operations.calls import CallError, declare, library_of

_DIMS = ctypes.POINTER(c_uint64)
DEFAULT = 0  # H5P_DEFAULT, H5S_ALL
SELECT_SET = 0
WAIT_FOREVER = 2**64 - 1

# H5Dread_async and H5Dwrite_async: the caller's file, function and line, then as without _async.
_ASYNC = [c_char_p, c_char_p, c_uint, _ID, _ID, _ID, _ID, _ID, c_void_p, _ID]

# Function -> what it returns and takes; a negative answer is an error.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "H5Acreate2": (_ID, [_ID, c_char_p, _ID, _ID, _ID, _ID]),
    "H5Aopen": (_ID, [_ID, c_char_p, _ID]),
    "H5Awrite": (_FLAG, [_ID, _ID, c_void_p]),
    "H5Aread": (_FLAG, [_ID, _ID, c_void_p]),
    "H5Aclose": (_FLAG, [_ID]),
    "H5Dcreate2": (_ID, [_ID, c_char_p, _ID, _ID, _ID, _ID, _ID]),
    "H5Dopen2": (_ID, [_ID, c_char_p, _ID]),
    "H5Dwrite": (_FLAG, [_ID, _ID, _ID, _ID, _ID, c_void_p]),
    "H5Dread": (_FLAG, [_ID, _ID, _ID, _ID, _ID, c_void_p]),
    "H5Dwrite_async": (_FLAG, _ASYNC),
    "H5Dread_async": (_FLAG, _ASYNC),
    "H5Dclose": (_FLAG, [_ID]),
    "H5EScreate": (_ID, []),
    "H5ESwait": (
        _FLAG,
        [_ID, c_uint64, ctypes.POINTER(c_size_t), ctypes.POINTER(ctypes.c_bool)],
    ),
    "H5ESclose": (_FLAG, [_ID]),
    "H5Gcreate2": (_ID, [_ID, c_char_p, _ID, _ID, _ID]),
    "H5Gopen2": (_ID, [_ID, c_char_p, _ID]),
    "H5Gclose": (_FLAG, [_ID]),
    "H5Lcreate_soft": (_FLAG, [c_char_p, _ID, c_char_p, _ID, _ID]),
    "H5Lcreate_hard": (_FLAG, [_ID, c_char_p, _ID, c_char_p, _ID, _ID]),
    "H5Lexists": (_FLAG, [_ID, c_char_p, _ID]),
    "H5Sselect_hyperslab": (_FLAG, [_ID, c_int, _DIMS, _DIMS, _DIMS, _DIMS]),
}


def functions() -> Any:
    """The functions above as attributes; `h5.H5Dclose(...)` raises CallError."""
    library = library_of(h5py.defs)
    declare(library, _FUNCTIONS)
    return library


def double() -> int:
    """The id of H5T_NATIVE_DOUBLE."""
    return int(h5py.h5t.NATIVE_DOUBLE.id)


def scalar() -> h5py.h5s.SpaceID:
    """A dataspace for one element."""
    return h5py.h5s.create(h5py.h5s.SCALAR)


def wait(h5: Any, events: int) -> None:
    """Waits for all of an event set; CallError when one of them failed."""
    left, failed = c_size_t(), ctypes.c_bool()
    h5.H5ESwait(events, WAIT_FOREVER, ctypes.byref(left), ctypes.byref(failed))
    if failed.value or left.value:
        raise CallError(f"H5ESwait: {left.value} left, failed: {failed.value}")
