"""A process's trace as its user looks at it: the program's calls, and the last requests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from headrace.trace.model.process import Numbers, Process

READ: Final = "dataset_read"
WRITE: Final = "dataset_write"
_BILLION: Final = 1e9
_DEPTH: Final = 64  # calls within calls; more are a damaged trace's


@dataclass
class Seat:
    """One process; what is asked for is computed once."""

    process: Process

    @cached_property
    def calls(self) -> Numbers:
        """The calls that the program has made of the uppermost layer."""
        chosen = self._chosen
        return {name: values[chosen] for name, values in self.process.calls.items()}

    @cached_property
    def own(self) -> NDArray[np.float64]:
        """Seconds of each of these calls, without those of others made within it."""
        return _own_times(self.process, self._chosen)

    @cached_property
    def top(self) -> NDArray[np.bool_]:
        """Which of these calls were made within no other: their times do not overlap."""
        top: NDArray[np.bool_] = self.calls["parent"] == 0
        return top

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows of the calls that are within no other, as they began."""
        rows = np.flatnonzero(self.top)
        return rows[np.argsort(self.calls["begin"][rows], kind="stable")]

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """Seconds after each of those, in their order, until the program calls HDF5 again."""
        begin, duration = self.calls["begin"][self.order], self.calls["duration"][self.order]
        after = np.append(begin[1:] - (begin + duration)[:-1], 0) / _BILLION
        found: NDArray[np.float64] = np.maximum(after[: len(begin)], 0)
        return found

    @cached_property
    def storages(self) -> dict[int, str]:
        """The files that the lowest layer knows, by their ids: their names."""
        storages = self.process.storages
        deepest = max((int(each["level"]) for each in storages.values()), default=0)
        return {i: each["name"] for i, each in storages.items() if each["level"] == deepest}

    @cached_property
    def requests(self) -> Numbers:
        """The requests of the lowest layer: those that reach the storage."""
        rows = np.isin(self.process.requests["file"], np.array(list(self.storages), np.int64))
        return {name: values[rows] for name, values in self.process.requests.items()}

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Of each of these requests: the row of `calls` that it was made in; -1 for none."""
        raw = self.process.calls
        every, mine = _Index(raw["number"]), _Index(self.calls["number"])
        current = self.requests["call"].copy()
        found = mine.rows(current)
        for _ in range(_DEPTH):
            open_ = np.flatnonzero((found < 0) & (current != 0))
            if not len(open_) or not len(raw["number"]):
                break
            rows = every.rows(current[open_])
            current[open_] = np.where(rows < 0, 0, raw["parent"][rows])
            found[open_] = mine.rows(current[open_])
        return found

    def are(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the calls are of these callbacks."""
        wanted = set(names)
        numbers = [i for i, name in enumerate(self.process.callbacks) if name in wanted]
        return np.isin(self.calls["callback"], np.array(numbers, np.int64))

    @cached_property
    def transfers(self) -> NDArray[np.int64]:
        """Rows of the calls that read or write datasets."""
        return np.flatnonzero(self.are((READ, WRITE)))

    @cached_property
    def _chosen(self) -> NDArray[np.bool_]:
        return _outermost(self.process)


def _outermost(process: Process) -> NDArray[np.bool_]:
    """Which calls the program has made of the uppermost layer: not those of layers below it."""
    raw, levels = process.calls, process.level_of_files
    lower = {id_ for id_, each in process.objects.items() if levels.get(each["file"], 0) > 0}
    return ~np.isin(raw["object"], np.array(sorted(lower), np.int64))


def _own_times(process: Process, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Seconds of each of these calls, without those of the others made within them."""
    numbers, parents = process.calls["number"][chosen], _parents(process, chosen)
    times = process.calls["duration"][chosen] / _BILLION
    if not len(numbers):
        return times
    order = np.argsort(numbers, kind="stable")
    places = np.minimum(np.searchsorted(numbers[order], parents), len(numbers) - 1)
    has_parent = numbers[order][places] == parents
    within = np.zeros(len(numbers))
    np.add.at(within, order[places[has_parent]], times[has_parent])
    return np.maximum(times - within, 0)


def _parents(process: Process, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of each of these calls, the nearest of the chosen ones that it was made in, if any is."""
    raw = process.calls
    parents = raw["parent"][chosen]
    passed, first = np.unique(raw["number"][~chosen], return_index=True)
    above = raw["parent"][~chosen][first]
    while len(passed):
        places = np.minimum(np.searchsorted(passed, parents), len(passed) - 1)
        within = (passed[places] == parents) & (above[places] < parents)
        if not within.any():
            break
        parents = np.where(within, above[places], parents)
    return parents


class _Index:
    """Finds rows by numbers; of several rows with a number it is the last."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        """Of all rows, in their order."""
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """-1 for those that are not there, and for 0."""
        if not len(self._sorted):
            return np.full(len(numbers), -1, np.int64)
        at = np.maximum(np.searchsorted(self._sorted, numbers, side="right") - 1, 0)
        there = (self._sorted[at] == numbers) & (numbers != 0)
        return np.where(there, self._order[at], -1)
