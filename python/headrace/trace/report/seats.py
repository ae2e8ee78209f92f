"""Both seats of a process as the report looks at them: the program's calls, the last requests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.summary import outermost, own_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from headrace.trace.reader import Numbers, Process

READ: Final = "dataset_read"
WRITE: Final = "dataset_write"
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
        return own_times(self.process, self._chosen)

    @cached_property
    def top(self) -> NDArray[np.bool_]:
        """Which of these calls were made within no other: their times do not overlap."""
        top: NDArray[np.bool_] = self.calls["parent"] == 0
        return top

    @cached_property
    def requests(self) -> Numbers:
        """The requests of the lowest layer: those that reach the storage."""
        levels = {id_: int(each["level"]) for id_, each in self.process.storages.items()}
        deepest = max(levels.values(), default=0)
        lowest = [id_ for id_, level in levels.items() if level == deepest]
        rows = np.isin(self.process.requests["file"], np.array(lowest, np.int64))
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
            if not len(open_):
                break
            rows = every.rows(current[open_])
            current[open_] = np.where(rows < 0, 0, raw["parent"][rows])
            found[open_] = mine.rows(current[open_])
        return found

    @property
    def offset(self) -> int:
        """What has to be added to a time of this process to compare it with other processes'."""
        about = self.process.about
        return int(about.get("time", 0)) - int(about.get("monotonic", 0))

    def are(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the calls are of these callbacks."""
        wanted = set(names)
        numbers = [i for i, name in enumerate(self.process.callbacks) if name in wanted]
        return np.isin(self.calls["callback"], np.array(numbers, np.int64))

    @cached_property
    def transfers(self) -> NDArray[np.int64]:
        """Rows of the calls that read or write datasets."""
        return np.flatnonzero(self.are((READ, WRITE)))

    @property
    def _chosen(self) -> NDArray[np.bool_]:
        if self._kept is None:
            self._kept = outermost(self.process)
        return self._kept

    _kept: NDArray[np.bool_] | None = None


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
