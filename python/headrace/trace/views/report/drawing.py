"""Numbers as short SVG paths; colours are the page's, which can be light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVELS: Final = 8  # of heat; the template has a colour for each


def steps(parts: NDArray[np.float64], half: float, sign: int) -> str:
    """A filled row of steps from 0 to 1 above (-1) or below the middle line."""
    heights = np.round(np.clip(parts, 0, 1) * half, 1)
    # What is there must be seen, however small it is.
    heights[(parts > 0) & (heights < 0.8)] = 0.8
    changes = np.flatnonzero(np.diff(heights, prepend=0.0))
    text = [f"M0 {half:g}"]
    text += [f"H{i}V{half + sign * heights[i]:g}" for i in changes.tolist()]
    return "".join(text) + f"H{len(parts)}V{half:g}Z"


def levels(parts: NDArray[np.float64]) -> list[dict[str, Any]]:
    """A map from 0 (left out) to 1: for each level strokes along its rows, one unit wide."""
    classes = np.ceil(np.clip(parts, 0, 1) * LEVELS).astype(np.int64)
    return classes_to_paths(classes)


def classes_to_paths(classes: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Strokes of each class of cells but of 0, along the rows."""
    found: dict[int, list[str]] = {}
    for y, row in enumerate(classes):
        first = np.flatnonzero(np.diff(row, prepend=-1))
        lengths = np.diff(np.append(first, len(row)))
        for x, length, level in zip(
            first.tolist(), lengths.tolist(), row[first].tolist(), strict=True
        ):
            if level:
                found.setdefault(level, []).append(f"M{x} {y + 0.5:g}h{length}")
    return [{"level": level, "path": "".join(found[level])} for level in sorted(found)]


def how_often(often: NDArray[np.float64]) -> tuple[NDArray[np.int64], float, float]:
    """Levels from 1 for cells that were accessed, with the least and the most of them.

    By the logarithm where the most is many times the least.
    """
    there = often > 0
    if not there.any():
        return np.zeros(often.shape, np.int64), 0.0, 0.0
    least, most = float(often[there].min()), float(often.max())
    if most <= least * (1 + 1e-9):
        return np.where(there, LEVELS // 2 + 1, 0), least, most
    if most > LEVELS * least:
        part = np.log(np.maximum(often, least) / least) / np.log(most / least)
    else:
        part = often / most
    return (
        np.where(there, np.clip(np.ceil(part * LEVELS), 1, LEVELS), 0).astype(np.int64),
        least,
        most,
    )


def histogram(sizes: NDArray[np.int64]) -> dict[int, int]:
    """How many are in each power of two: 10 stands for 1024 up to 2047; -1 for 0."""
    positive = sizes[sizes > 0]
    powers = np.floor(np.log2(positive.astype(np.float64))).astype(np.int64)
    numbers, counts = np.unique(powers, return_counts=True)
    found = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    if zeros := int((sizes <= 0).sum()):
        found[-1] = zeros
    return found
