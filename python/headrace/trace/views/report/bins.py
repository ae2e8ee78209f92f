"""Amounts that were moved over stretches of time, as bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread(
    begin: NDArray[np.float64],
    end: NDArray[np.float64],
    amount: NDArray[np.float64],
    bins: int,
) -> NDArray[np.float64]:
    """Each amount evenly over the bins between its begin and end, which are counted in bins."""
    first = np.clip(begin, 0, bins - 1).astype(np.int64)
    last = np.clip(end, 0, bins - 1).astype(np.int64)
    long = last > first
    total = np.zeros(bins)  # bincount alone makes integers of no weights
    total += np.bincount(first[~long], amount[~long], bins)
    first, last = first[long], last[long]
    begin, end, amount = begin[long], end[long], amount[long]
    rate = amount / np.maximum(end - begin, 1e-12)
    total += np.bincount(first, rate * (first + 1 - begin), bins)
    total += np.bincount(last, rate * (end - last), bins)
    steps = np.bincount(first + 1, rate, bins + 1) - np.bincount(last, rate, bins + 1)
    return np.maximum(total + np.cumsum(steps)[:bins], 0)


def at_begin(
    begin: NDArray[np.float64], amount: NDArray[np.float64], bins: int
) -> NDArray[np.float64]:
    """Each amount in the bin in which it begins."""
    places = np.clip(begin, 0, bins - 1).astype(np.int64)
    return np.bincount(places, amount, bins).astype(np.float64)
