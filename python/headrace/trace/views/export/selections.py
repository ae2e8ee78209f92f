"""Selections in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from headrace.trace.model.process import Fact


def selection(shape: Fact, start: int) -> str:
    """What a transfer selects, as a user of NumPy would write it.

    `shape` is a fact of the trace, `start` the number of elements before the first, row by row.
    """
    kind, dims = shape.get("kind", ""), shape.get("dims", [])
    whole = " x ".join(map(str, dims)) or "one element"
    if kind in ("", "all", "none"):
        return {"": "", "all": f"all of {whole}", "none": "nothing"}[kind]
    corner = np.unravel_index(start, dims) if dims and start < np.prod(dims) else [0] * len(dims)
    box = shape.get("block", [])
    if kind != "hyperslab":
        within = ", ".join(f"{at}:{at + size}" for at, size in zip(corner, box, strict=False))
        what = "points" if kind == "points" else "elements"
        return f"{shape.get('elements', 0)} {what} within [{within}] of {whole}"
    sides = zip(corner, shape["count"], shape["stride"], box, strict=False)
    return f"[{', '.join(_side(*map(int, each)) for each in sides)}] of {whole}"


def _side(start: int, count: int, stride: int, block: int) -> str:
    end = start + (count - 1) * stride + block
    if count == 1 or stride == block:
        return f"{start}:{end}" if end > start + 1 else f"{start}"
    return f"{start}:{end}:{stride}" + (f" in blocks of {block}" if block > 1 else "")
