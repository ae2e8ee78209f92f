"""Calls that ask and change nothing: how each is made, by HDF5's callback and operation."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Final

from headrace.trace.replay import attributes
from headrace.trace.replay.hdf5.library import ATTRIBUTE, DATASET, FILE, GROUP
from headrace.trace.replay.native import NATIVE, REFERENCES

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.trace.replay.hdf5.handles import Handles
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.step import Step

    Ask = Callable[[Library, Handles, Step], None]

_KINDS: Final = 0x1F | 0x20  # H5F_OBJ_ALL of this file alone: H5F_OBJ_LOCAL
_ROOM: Final = 1024  # bytes, more than any structure that HDF5 fills


def _id(library: Library, handles: Handles, step: Step, *, function: str, kind: int) -> None:
    """The answer is an id, which is let go again."""
    found = library.call(function, handles.of(step.given["given"][0], {"of": kind}))
    if found >= 0:
        library.call("H5Idec_ref", found)


def _filled(library: Library, handles: Handles, step: Step, *, function: str, kind: int) -> None:
    """The answer is written to a place that is given."""
    handle = handles.of(step.given["given"][0], {"of": kind})
    library.call(function, handle, ctypes.create_string_buffer(_ROOM))


def _size(library: Library, handles: Handles, step: Step, *, function: str, kind: int) -> None:
    library.call(function, handles.of(step.given["given"][0], {"of": kind}))


def _attribute_exists(library: Library, handles: Handles, step: Step) -> None:
    self_, place, what = step.given["given"][:3]
    at, name = handles.of(self_, place), what["name"].encode()
    if "name" in place:
        library.call("H5Aexists_by_name", at, place["name"].encode(), name, 0)
    else:
        library.call("H5Aexists", at, name)


def _attribute_deleted(library: Library, handles: Handles, step: Step) -> None:
    self_, place, what = step.given["given"][:3]
    at = handles.of(self_, place)
    library.call("H5Adelete_by_name", at, place.get("name", ".").encode(), what["name"].encode(), 0)


def _link(library: Library, handles: Handles, step: Step, *, function: str) -> None:
    self_, place = step.given["given"][:2]
    library.call(function, handles.of(self_, place), place.get("name", ".").encode(), 0)


def _link_value(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    name = place.get("name", ".").encode()
    library.call("H5Lget_val", at, name, room, ctypes.c_size_t(_ROOM), 0)


def _link_info(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    library.call("H5Lget_info2", at, place.get("name", ".").encode(), room, 0)


def _object_exists(library: Library, handles: Handles, step: Step) -> None:
    _link(library, handles, step, function="H5Oexists_by_name")


def _object_info(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    all_fields = ctypes.c_uint(0x1F)
    if "name" in place:
        library.call("H5Oget_info_by_name3", at, place["name"].encode(), room, all_fields, 0)
    else:
        library.call("H5Oget_info3", at, room, all_fields)


def _object_name(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    room = ctypes.create_string_buffer(_ROOM)
    library.call("H5Iget_name", handles.of(self_, place), room, ctypes.c_size_t(_ROOM))


def _iterate(library: Library, handles: Handles, step: Step) -> None:
    self_, place, what = step.given["given"][:3]
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    library.call(
        "H5Literate_by_name2", handles.of(self_, place), place.get("name", ".").encode(),
        what["index"], what["order"], None, callback, None, 0,
    )  # fmt: skip


def _visit(library: Library, handles: Handles, step: Step) -> None:
    self_, place, what = step.given["given"][:3]
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    library.call(
        "H5Ovisit3", handles.of(self_, place), what["index"], what["order"], callback, None,
        ctypes.c_uint(what["fields"]),
    )  # fmt: skip


def _of_object(library: Library, handles: Handles, step: Step, *, function: str) -> None:
    self_, place = step.given["given"][:2]
    library.call(function, handles.of(self_, place))


def _native_info(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    all_fields = ctypes.c_uint(0x18)
    if "name" in place:
        library.call("H5Oget_native_info_by_name", at, place["name"].encode(), room, all_fields, 0)
    else:
        library.call("H5Oget_native_info", at, room, all_fields)


def _file_of(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    found = library.call("H5Iget_file_id", handles.of(self_, place))
    if found >= 0:
        library.call("H5Idec_ref", found)


def _open_objects(library: Library, handles: Handles, step: Step) -> None:
    file = handles.of(step.given["given"][0], {"of": FILE})
    library.call("H5Fget_obj_count", file, ctypes.c_uint(_KINDS))


# The operations are numbers of HDF5's lists for a callback (H5VLconnector.h).
QUESTIONS: Final[dict[str, dict[int, Ask]]] = NATIVE | {
    "attr_get": {
        0: partial(_id, function="H5Aget_create_plist", kind=ATTRIBUTE),
        1: attributes.info,
        2: attributes.name,
        3: partial(_id, function="H5Aget_space", kind=ATTRIBUTE),
        4: partial(_size, function="H5Aget_storage_size", kind=ATTRIBUTE),
        5: partial(_id, function="H5Aget_type", kind=ATTRIBUTE),
    },
    "attr_specific": {
        0: _attribute_deleted,
        2: _attribute_exists,
        3: attributes.iterate,
        4: attributes.rename,
    },
    "dataset_get": {
        0: partial(_id, function="H5Dget_access_plist", kind=DATASET),
        1: partial(_id, function="H5Dget_create_plist", kind=DATASET),
        2: partial(_id, function="H5Dget_space", kind=DATASET),
        3: partial(_filled, function="H5Dget_space_status", kind=DATASET),
        4: partial(_size, function="H5Dget_storage_size", kind=DATASET),
        5: partial(_id, function="H5Dget_type", kind=DATASET),
    },
    "file_get": {
        1: partial(_id, function="H5Fget_access_plist", kind=FILE),
        2: partial(_id, function="H5Fget_create_plist", kind=FILE),
        4: partial(_filled, function="H5Fget_intent", kind=FILE),
        6: _open_objects,
        7: _open_objects,
    },
    "group_get": {
        0: partial(_id, function="H5Gget_create_plist", kind=GROUP),
        1: partial(_filled, function="H5Gget_info", kind=GROUP),
    },
    "link_get": {0: _link_info, 2: _link_value},
    "link_specific": {
        0: partial(_link, function="H5Ldelete"),
        1: partial(_link, function="H5Lexists"),
        2: _iterate,
    },
    "object_get": REFERENCES["object_get"] | {0: _file_of, 1: _object_name, 3: _object_info},
    "object_optional": {5: _native_info},
    "object_specific": REFERENCES["object_specific"]
    | {
        1: _object_exists,
        3: _visit,
        4: partial(_of_object, function="H5Oflush"),
        5: partial(_of_object, function="H5Orefresh"),
    },
}
