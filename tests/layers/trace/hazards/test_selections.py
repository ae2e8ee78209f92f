"""Overlap of selections against masks of NumPy, alone and among many."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness.seed import LONG, SEED
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace.trace.analysis.hazards import sweep
from headrace.trace.analysis.hazards.overlap import Slabs, common, overlap

Side = tuple[int, int, int, int]  # start, count, stride, block
EXTENT = 60


@st.composite
def sides(draw: st.DrawFn) -> Side:
    block = draw(st.integers(1, 5))
    stride = draw(st.integers(block, block + 12))
    start = draw(st.integers(0, EXTENT - block))
    count = draw(st.integers(1, (EXTENT - start - block) // stride + 1))
    return start, count, stride, block


def slabs(rows: list[list[Side]]) -> Slabs:
    return Slabs(*np.moveaxis(np.array(rows, np.int64), 2, 0))


def mask(rows: list[Side]) -> NDArray[np.bool_]:
    found = np.ones([EXTENT] * len(rows), np.bool_)
    for axis, (start, count, stride, block) in enumerate(rows):
        line = np.zeros(EXTENT, np.bool_)
        for i in range(count):
            line[start + i * stride : start + i * stride + block] = True
        found &= line.reshape([-1 if axis == i else 1 for i in range(len(rows))])
    return found


@seed(SEED)
@settings(max_examples=3000 if LONG else 300, deadline=None, database=None)
@given(st.integers(1, 2).flatmap(lambda n: st.lists(sides(), min_size=2 * n, max_size=2 * n)))
def test_overlap_is_that_of_masks(drawn: list[Side]) -> None:
    half = len(drawn) // 2
    one, other = drawn[:half], drawn[half:]
    both = mask(one) & mask(other)
    assert overlap(slabs([one]), slabs([other])).tolist() == [both.any()]
    if both.any():
        told = np.zeros_like(both)
        told[eval(f"np.s_[{common(slabs([one]), slabs([other]))}]")] = True  # noqa: S307
        assert told[both].all()
        if all(side[1] == 1 for side in drawn):
            assert (told == both).all()


def test_long_strides_are_exact() -> None:
    """Far more blocks than could be gone through one by one."""
    stride, other_stride = 10**9 + 7, 10**9 + 9  # they meet at block 500000002 of the first

    def met(many: int) -> list[bool]:
        one = slabs([[(0, many, 6, 1)], [(0, many, stride, 1)], [(0, many, stride, 1)]])
        other = slabs([[(3, many, 4, 1)], [(5, many, other_stride, 1)], [(5, many, 7, 5)]])
        found: list[bool] = overlap(one, other).tolist()
        return found

    assert met(10**8) == [False, False, False]
    assert met(10**9) == [False, True, True]


@pytest.mark.parametrize("kind", ["blocks", "strides", "any"])
def test_pairs_are_found_once(kind: str) -> None:
    draw = np.random.default_rng(SEED)
    rows: list[list[Side]] = []
    for _ in range(500):
        row: list[Side] = []
        for _ in range(2):
            block = int(draw.integers(1, 4))
            strided = kind != "blocks" and (kind == "strides" or draw.random() < 0.5)
            count = int(draw.integers(2, 5)) if strided else 1
            stride = int(draw.integers(4, 6)) if kind == "any" else 5
            row.append((int(draw.integers(0, 40)), count, stride, block))
        rows.append(row)
    all_ = slabs(rows)
    owner = draw.integers(0, 20, len(rows))
    writes = draw.random(len(rows)) < 0.3
    boxes = sweep.Boxes(*sweep.boxes(all_), owner, writes)
    found = [
        tuple(sorted((int(i), int(j))))
        for one, other in sweep.pairs(boxes)
        for i, j in zip(one, other, strict=True)
        if overlap(all_.take(np.array([i])), all_.take(np.array([j])))[0]
    ]
    masks = [mask(row) for row in rows]
    expected = {
        (i, j)
        for i, j in product(range(len(rows)), repeat=2)
        if i < j
        and owner[i] != owner[j]
        and (writes[i] or writes[j])
        and (masks[i] & masks[j]).any()
    }
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert expected
