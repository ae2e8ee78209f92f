"""What the replay has open, by what the trace calls it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.replay.hdf5.library import Library

Key = tuple[int, int]  # an object, and the name of its attribute or 0
_ANY: Final = -1


class MissingError(Exception):
    """Nothing that is open has that name in the trace."""


class Handles:
    """Ids of HDF5 by a trace's ids of paths; the last is used of several that are of one path."""

    def __init__(self, library: Library) -> None:
        """Nothing is open."""
        self._library = library
        self._open: dict[Key, list[tuple[int, int]]] = defaultdict(list)

    def add(self, key: Key, handle: int, kind: int | None = None) -> None:
        """Keeps one that was opened or made; `kind`: an H5I_type_t, where it is known."""
        if kind is None:
            kind = self._library.call("H5Iget_type", handle)
        self._open[key].append((kind, handle))

    def of(self, object_: Sequence[int] | None, place: Mapping[str, int]) -> int:
        """One of that kind (`place["of"]`, an H5I_type_t), else of any; raises MissingError."""
        if object_ is None:
            raise MissingError
        found = self._open.get((object_[0], object_[1]), [])
        for kind, handle in reversed(found):
            if kind == place.get("of", _ANY):
                return handle
        if not found:
            raise MissingError
        return found[-1][1]

    def close(self, key: Key, kind: int) -> int:
        """The first that was opened of that kind; it is to be closed. Raises MissingError."""
        for number, (found, handle) in enumerate(self._open.get(key, [])):
            if found == kind:
                del self._open[key][number]
                return handle
        raise MissingError
