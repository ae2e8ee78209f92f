"""Runs of candidates within a budget of time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headrace.tune.space import Candidate

_SEARCHED: Final = 0.5  # of the budget; the rest is for comparing what was found


class Runs:
    """Measures candidates, by `measure`, which gives seconds; `count`: how many it has measured.

    `budget`: seconds by the clock for all runs together, from `began` on or from now.
    """

    def __init__(
        self, measure: Callable[[Candidate], float], budget: float, began: float | None = None
    ) -> None:
        """No run is made yet."""
        self._measure = measure
        self._budget = budget
        self._began = time.monotonic() if began is None else began
        self._took: dict[Candidate, float] = {}
        self.count = 0

    def seconds(self, candidate: Candidate) -> float:
        """Of one run; raises what the measurement raises."""
        began = time.monotonic()
        self.count += 1
        try:
            return self._measure(candidate)
        finally:
            self._took[candidate] = time.monotonic() - began

    def may_search(self) -> bool:
        """Whether the time for trying candidates is not over."""
        return time.monotonic() - self._began < _SEARCHED * self._budget

    def time_for(self, candidates: Iterable[Candidate]) -> bool:
        """Whether runs of all of them fit into what is left.

        Each as long as that candidate's last run; one that has not run yet, as the longest.
        """
        longest = max(self._took.values(), default=0.0)
        needed = sum(self._took.get(each, longest) for each in candidates)
        return time.monotonic() + needed <= self._began + self._budget
