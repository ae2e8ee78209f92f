"""What a program asks of all attributes of an object, and how it names them anew."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

from headrace.trace.replay.hdf5.library import ATTRIBUTE

if TYPE_CHECKING:
    from headrace.trace.model.process import Fact
    from headrace.trace.replay.hdf5.handles import Handles
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.step import Step

_ROOM: Final = 1024  # bytes, more than any structure that HDF5 fills


def iterate(library: Library, handles: Handles, step: Step) -> None:
    """Over all of them; what was done within follows."""
    self_, place, what = step.given["given"][:3]
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    order = (what["index"], what["order"], None, callback, None)
    at = handles.of(self_, place)
    if "name" in place:
        library.call("H5Aiterate_by_name", at, place["name"].encode(), *order, 0)
    else:
        library.call("H5Aiterate2", at, *order)


def rename(library: Library, handles: Handles, step: Step) -> None:
    """Gives one another name."""
    self_, place, what = step.given["given"][:3]
    names = (what["name"].encode(), what["new"].encode())
    at = handles.of(self_, place)
    if "name" in place:
        library.call("H5Arename_by_name", at, place["name"].encode(), *names, 0)
    else:
        library.call("H5Arename", at, *names)


def name(library: Library, handles: Handles, step: Step) -> None:
    """Asks an open attribute, or the one that has a place in an order."""
    place, room = _place(step), ctypes.create_string_buffer(_ROOM)
    at = handles.of(step.given["given"][0], place)
    if "at" in place:
        library.call("H5Aget_name_by_idx", at, *_index(place), room, ctypes.c_size_t(_ROOM), 0)
    else:
        library.call("H5Aget_name", at, ctypes.c_size_t(_ROOM), room)


def info(library: Library, handles: Handles, step: Step) -> None:
    """Asks the same of an attribute's size."""
    place, room = _place(step), ctypes.create_string_buffer(_ROOM)
    at = handles.of(step.given["given"][0], place)
    asked = step.given["given"][1] or {}
    if "at" in place:
        library.call("H5Aget_info_by_idx", at, *_index(place), room, 0)
    elif "name" in asked:
        of = place.get("name", ".").encode()
        library.call("H5Aget_info_by_name", at, of, asked["name"].encode(), room, 0)
    else:
        library.call("H5Aget_info", at, room)


def _place(step: Step) -> Fact:
    asked = step.given["given"][1] or {}
    return dict(asked.get("place", {"of": ATTRIBUTE}))


def _index(place: Fact) -> tuple[Any, ...]:
    at = place["at"]
    return (place["name"].encode(), at["index"], at["order"], at["n"])
