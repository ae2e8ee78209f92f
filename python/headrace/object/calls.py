"""The operations of include/headrace/map.h, on the libhdf5 of h5py."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any, Final

import h5py

from headrace.errors import HeadraceError
from headrace.operations.calls import FLAG, ID, CallError, declare, library_of

_ON_OBJECT: Final = 9  # H5VL_SUBCLS_OBJECT
_SUPPORTED: Final = 1  # H5VL_OPT_QUERY_SUPPORTED
_DEFAULT: Final = 0  # H5P_DEFAULT, H5E_DEFAULT, H5ES_NONE
IS_MAP: Final = 6  # H5I_MAP

_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "H5VLfind_opt_operation": (FLAG, [c_int, c_char_p, POINTER(c_int)]),
    "H5VLquery_optional": (FLAG, [ID, c_int, c_int, POINTER(c_uint64)]),
    "H5VLobject_optional_op": (
        FLAG,
        [c_char_p, c_char_p, c_uint, ID, c_char_p, ID, c_void_p, ID, ID],
    ),
    "H5Oopen": (ID, [ID, c_char_p, ID]),
    "H5Iget_type": (c_int, [ID]),
    "H5Idec_ref": (c_int, [ID]),
    "H5Treclaim": (FLAG, [ID, ID, ID, c_void_p]),
    "H5Eget_auto2": (FLAG, [ID, POINTER(c_void_p), POINTER(c_void_p)]),
    "H5Eset_auto2": (FLAG, [ID, c_void_p, c_void_p]),
    "H5Eclear2": (FLAG, [ID]),
}


class Create(ctypes.Structure):
    """headrace_map_create_t."""

    _fields_ = (
        ("size", c_size_t),
        ("name", c_char_p),
        ("key_type", ID),
        ("val_type", ID),
        ("lcpl", ID),
        ("mcpl", ID),
    )


class Keys(ctypes.Structure):
    """headrace_map_keys_t."""

    _fields_ = (
        ("size", c_size_t),
        ("n", c_size_t),
        ("key_mem_type", ID),
        ("keys", c_void_p),
        ("val_mem_type", ID),
        ("put", c_void_p),
        ("get", c_void_p),
        ("found", c_void_p),
    )


class Scan(ctypes.Structure):
    """headrace_map_scan_t."""

    _fields_ = (
        ("size", c_size_t),
        ("n", c_size_t),
        ("key_mem_type", ID),
        ("start", c_void_p),
        ("behind", c_int),
        ("keys", c_void_p),
        ("val_mem_type", ID),
        ("values", c_void_p),
    )


class Info(ctypes.Structure):
    """headrace_map_info_t."""

    _fields_ = (("size", c_size_t), ("count", c_uint64), ("key_type", ID), ("val_type", ID))


class _Arguments(ctypes.Structure):
    """H5VL_optional_args_t."""

    _fields_ = (("operation", c_int), ("args", c_void_p))


@cache
def _library() -> Any:
    library = library_of(h5py.defs)
    declare(library, _FUNCTIONS)
    return library


@contextmanager
def entered() -> Iterator[Any]:
    """The libhdf5 of h5py, with nobody else in it; it prints no errors."""
    library = _library()
    with h5py._objects.phil:  # noqa: SLF001, h5py offers no other way in
        function, data = c_void_p(), c_void_p()
        library.H5Eget_auto2(_DEFAULT, ctypes.byref(function), ctypes.byref(data))
        library.H5Eset_auto2(_DEFAULT, None, None)
        try:
            yield library
        finally:
            library.H5Eset_auto2(_DEFAULT, function, data)


def operate(library: Any, object_id: int, name: bytes, args: ctypes.Structure) -> None:
    """Carries out an operation. Raises HeadraceError where the object is none of the layer's."""
    args.size = ctypes.sizeof(args)
    number, flags = c_int(), c_uint64()
    full = b"headrace.object.map_" + name
    try:
        library.H5VLfind_opt_operation(_ON_OBJECT, full, ctypes.byref(number))
        library.H5VLquery_optional(object_id, _ON_OBJECT, number, ctypes.byref(flags))
    except CallError:
        library.H5Eclear2(_DEFAULT)
    if not flags.value & _SUPPORTED:
        raise HeadraceError("a map needs a file of the layer `object`, and this is none")
    call = _Arguments(number.value, ctypes.addressof(args))
    library.H5VLobject_optional_op(
        b"", b"", 0, object_id, b".", _DEFAULT, ctypes.byref(call), _DEFAULT, _DEFAULT
    )


def usual_list(library: Any) -> int:
    """H5P_MAP_CREATE_DEFAULT."""
    return int(ID.in_dll(library, "H5P_LST_MAP_CREATE_ID_g").value)
