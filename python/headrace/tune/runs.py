"""Runs of candidates within a budget of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headrace.tune.budget import OverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headrace.tune.budget import Budget
    from headrace.tune.space import Candidate

_SEARCHED: Final = 0.5  # of what is left; the rest is for comparing what was found
FEWEST_PAIRS: Final = 3  # of native HDF5 and a candidate, that anything can be told of


class Runs:
    """Measures candidates, by `measure`, which gives seconds; `count`: how many it has measured."""

    def __init__(self, measure: Callable[[Candidate], float], budget: Budget) -> None:
        """No run is made yet; a part of what is left from now on is for searching."""
        self._measure = measure
        self._budget = budget
        self._compared = (1 - _SEARCHED) * budget.left
        self._took: dict[Candidate, float] = {}
        self.count = 0

    def seconds(self, candidate: Candidate) -> float:
        """Of one run; OverError where there is no time for it, and what the measurement raises."""
        before = self._budget.left
        if before <= 0:
            raise OverError
        self.count += 1
        try:
            return self._measure(candidate)
        finally:
            self._took[candidate] = before - self._budget.left

    def may_search(self) -> bool:
        """Whether one more candidate leaves the time for comparing the best one.

        Native HDF5 and the first candidate are tried in any case.
        """
        if self.count <= 1:
            return True
        enough = (1 + 2 * FEWEST_PAIRS) * max(self._took.values())
        return self._budget.left > max(self._compared, enough)

    def time_for(self, candidates: Iterable[Candidate]) -> bool:
        """Whether runs of all of them fit into what is left.

        Each as long as that candidate's last run; one that has not run yet, as the longest.
        """
        longest = max(self._took.values(), default=0.0)
        return sum(self._took.get(each, longest) for each in candidates) <= self._budget.left
