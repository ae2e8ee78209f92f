"""Questions that only HDF5's native connector answers, and references: how each is made."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Final

from headrace.trace.replay.hdf5.library import FILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.trace.replay.hdf5.handles import Handles
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.step import Step

    Ask = Callable[[Library, Handles, Step], None]

_ROOM: Final = 4096  # bytes, more than any structure that HDF5 fills
_VERSION: Final = 1  # of H5AC_cache_config_t, which it begins with
_TOKEN: Final = 16  # bytes
_NO_SPACE: Final = -1


def _of_file(library: Library, handles: Handles, step: Step, *, function: str) -> None:
    file = handles.of(step.given["given"][0], {"of": FILE})
    room = ctypes.create_string_buffer(bytes([_VERSION]), _ROOM)
    library.call(function, file, room)


def _set_cache(library: Library, handles: Handles, step: Step) -> None:
    file = handles.of(step.given["given"][0], {"of": FILE})
    library.call("H5Fset_mdc_config", file, bytes.fromhex(step.given["native"]["config"]))


def _old_info(library: Library, handles: Handles, step: Step) -> None:
    """By which h5py and PyTables compare objects."""
    asked = step.given["native"]
    at, name = handles.of(step.given["given"][0], asked["place"]), asked["place"].get("name", ".")
    room = ctypes.create_string_buffer(_ROOM)
    library.call("H5Gget_objinfo", at, name.encode(), int(asked["follow"]), room)


def _referred(library: Library, handles: Handles, step: Step) -> None:
    """A reference is made of the name of what it leads to."""
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    library.call("H5Rcreate", room, at, place["name"].encode(), 0, _NO_SPACE)


def _type_referred(library: Library, handles: Handles, step: Step) -> None:
    self_, place = step.given["given"][:2]
    at, room = handles.of(self_, place), ctypes.create_string_buffer(_ROOM)
    library.call("H5Rget_obj_type2", at, 0, bytes.fromhex(place["token"]), room)


def _compared(library: Library, handles: Handles, step: Step) -> None:
    """Tokens of the same object, as none were recorded."""
    at, token = handles.of(step.given["given"][0], {}), bytes(_TOKEN)
    library.call("H5Otoken_cmp", at, token, token, ctypes.create_string_buffer(_ROOM))


NATIVE: Final[dict[str, dict[int, Ask]]] = {
    "file_optional": {
        4: partial(_of_file, function="H5Fget_info2"),
        5: partial(_of_file, function="H5Fget_mdc_config"),
        8: partial(_of_file, function="H5Fget_filesize"),
        11: _set_cache,
    },
    "group_optional": {1: _old_info},
    "token_cmp": {-1: _compared},
}
REFERENCES: Final[dict[str, dict[int, Ask]]] = {
    "object_get": {2: _type_referred},
    "object_specific": {2: _referred},
}
