"""What calls are for, by HDF5's callback and operation: the kinds that a report tells apart."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.model.seats import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headrace.trace.model.seats import Seat

OTHER: Final = "everything else"
# Operations of HDF5's own lists: H5VL_FILE_FLUSH and its like.
_FLUSHES: Final = {
    ("file_specific", 0), ("dataset_specific", 1), ("datatype_specific", 0), ("group_specific", 2),
    ("object_specific", 4),
}  # fmt: skip
_BY_END: Final = {
    "open": "opening", "create": "creating", "commit": "creating", "close": "closing",
    "get": "questions about objects",
}  # fmt: skip


def kind_of(callback: str, operation: int) -> str:
    """As a sentence names it."""
    what, _, done = callback.partition("_")
    if callback in {READ, WRITE}:
        return "reading datasets" if callback == READ else "writing datasets"
    if (callback, operation) in _FLUSHES:
        return "flushing"
    if what in {"attr", "link"}:
        return "attributes" if what == "attr" else "links"
    return _BY_END.get(done, OTHER)


def callback_of(seat: Seat, number: int) -> str:
    """Its name; its number where a damaged trace has no name for it."""
    known = 0 <= number < len(seat.process.callbacks)
    return seat.process.callbacks[number] if known else f"callback {number}"


def sums(seats: Sequence[Seat]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Calls, seconds and failed calls by kind and callback."""
    found: dict[tuple[str, str], tuple[float, float, float]] = defaultdict(lambda: (0, 0, 0))
    for seat in seats:
        for key, *values in _sums(seat):
            calls, spent, failed = (a + b for a, b in zip(found[key], values, strict=True))
            found[key] = calls, spent, failed
    return dict(found)


def _sums(seat: Seat) -> Iterator[tuple[tuple[str, str], float, float, float]]:
    raw = seat.calls
    pairs = np.stack([raw["callback"], raw["operation"]], axis=1)
    unique, places = np.unique(pairs, axis=0, return_inverse=True)
    failed = (raw["failed"] != 0) * raw["count"]
    columns = [np.bincount(places.reshape(-1), each, len(unique)).tolist()
               for each in (raw["count"], seat.own, failed)]  # fmt: skip
    for (number, operation), *values in zip(unique.tolist(), *columns, strict=True):
        callback = callback_of(seat, number)
        calls, spent, failures = values
        yield (kind_of(callback, operation), callback), calls, spent, failures
