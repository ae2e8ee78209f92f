"""Attributes that some ranks write: HDF5 wants all of them to make such a call together."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.hazards.accesses import WRITING, columns_of
from headrace.trace.analysis.hazards.overlap import Slabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from headrace.trace.analysis.hazards.accesses import Columns, Gathered, User

_WRITE: Final = "attr_write"
_CALLS: Final = ("attr_read", _WRITE)


def add_attributes(
    found: Gathered,
    file: str,
    users: Sequence[User],
    returned: NDArray[np.int64],
    places: dict[str, int],
) -> None:
    """Each attribute as a whole, but for the writes that all ranks made; of sums nothing is known.

    The nth write of one rank is taken for that of all, as long as each has an nth one.
    """
    if any((user.seat.calls["count"] > 1).any() for user in users):
        return
    by_name: dict[tuple[str, str], list[Columns]] = defaultdict(list)
    for user in users:
        for name, rows in _rows_of(user).items():
            by_name[name].append(columns_of(user, rows, returned, places, (_WRITE,)))
    for (path, attribute), parts in by_name.items():
        together = min(int((each["act"] == WRITING).sum()) for each in parts)
        if len(parts) < len(users):
            together = 0
        for each in parts:
            nth = np.cumsum(each["act"] == WRITING)
            kept = np.flatnonzero((each["act"] != WRITING) | (nth > together))
            columns = {key: values[kept] for key, values in each.items()}
            columns["boxed"] = np.zeros(len(kept), np.int64)
            one = np.ones((len(kept), 1), np.int64)
            found.parts[file, path, attribute].append((columns, Slabs(one - 1, one, one, one)))


def _rows_of(user: User) -> dict[tuple[str, str], NDArray[np.int64]]:
    """The calls on each attribute in their order."""
    raw, process = user.seat.calls, user.seat.process
    rows = np.flatnonzero(user.mine & user.seat.are(_CALLS) & (raw["name"] != 0))
    rows = rows[np.argsort(raw["begin"][rows], kind="stable")]
    pairs = np.stack([raw["object"][rows], raw["name"][rows]], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    by_name: dict[tuple[str, str], list[NDArray[np.int64]]] = defaultdict(list)
    for place, (object_, name) in enumerate(unique.tolist()):
        told = process.names.get(name, {}).get("is", "?")
        mine = rows[inverse.reshape(-1) == place]
        by_name[process.objects[object_]["path"], told].append(mine)
    return {name: np.sort(np.concatenate(mine)) for name, mine in by_name.items()}
