"""Medians, spreads, and ratios with an interval."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# The least coverage that is called an interval.
_COVERAGE: Final = 0.9
_FEWEST: Final = 5


@dataclass(frozen=True, slots=True)
class Spread:
    """Where values lie. With one value all are the same."""

    count: int
    least: float
    lower: float
    median: float
    upper: float
    most: float
    deviation: float  # the median of the distances to the median

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of at least one value."""
        ordered = sorted(values)
        middle = statistics.median(ordered)
        lower, upper = middle, middle
        if len(ordered) > 1:
            lower, _, upper = statistics.quantiles(ordered, n=4, method="inclusive")
        deviation = statistics.median(abs(each - middle) for each in ordered)
        # Interpolation rounds; quartiles must not leave the range.
        lower, upper = max(lower, ordered[0]), min(upper, ordered[-1])
        return cls(len(ordered), ordered[0], lower, middle, upper, ordered[-1], deviation)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster than native: above 1 is faster.

    With 5 pairs or more `low` to `high` holds the true median in `coverage` of all such runs.
    """

    median: float
    pairs: int
    low: float | None = None
    high: float | None = None
    coverage: float | None = None

    @property
    def verdict(self) -> str:
        """Says "faster" or "slower" where the interval does, else nothing."""
        if self.low is None or self.high is None:
            return ""
        return "faster" if self.low > 1 else "slower" if self.high < 1 else ""


def ratio(native: Mapping[int, float], other: Mapping[int, float]) -> Ratio | None:
    """Compares seconds by repeat, each with native's of the same repeat, measured next to it."""
    pairs = sorted(
        native[number] / other[number]
        for number in native.keys() & other.keys()
        if native[number] > 0 and other[number] > 0
    )
    if not pairs:
        return None
    count = len(pairs)
    middle = statistics.median(pairs)
    skipped = order(count)
    if skipped is None:
        return Ratio(middle, count)
    return Ratio(
        middle, count, pairs[skipped], pairs[count - 1 - skipped], coverage(count, skipped)
    )


def coverage(count: int, skipped: int) -> float:
    """How often the order statistics `skipped` from either end enclose the true median."""
    outside = sum(math.comb(count, k) for k in range(skipped + 1)) / 2 ** (count - 1)
    return float(1 - outside)


def order(count: int) -> int | None:
    """How many values can be left out at each end; None when there are too few for an interval."""
    fitting = [k for k in range((count + 1) // 2) if coverage(count, k) >= _COVERAGE]
    return max(fitting) if fitting and count >= _FEWEST else None
