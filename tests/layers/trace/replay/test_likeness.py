"""How alike a replay is: as the longest common subsequence tells it, and soon."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from harness.seed import SEED

from headrace.trace import Process
from headrace.trace.model.facts import CALLS, REQUESTS
from headrace.trace.model.seats import Seat
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.compare import likeness, requests
from headrace.trace.replay.plan import Plan, plan_of
from headrace.trace.replay.stand_ins.inputs import files_of
from headrace.trace.replay.step import Step

MANY = 20000
SOON = 10.0  # seconds for what takes one; what grows with the square takes hours


def seat(offsets: list[int], files: int = 1) -> Seat:
    """A process that has made these requests, in turn to each of the files."""
    process = Process(Path("a.trace"), callbacks=("dataset_write",))
    process.about = {"pid": 7, "time": 1, "monotonic": 0}
    process.storages = {i: {"name": name, "level": 0, "rank": -1, "ranks": 0, "call": i}
                        for i in range(files) for name in (f"/folder/{i}.h5",)}  # fmt: skip
    process.files = {i: {"name": each["name"], "level": 0, "parallel": True, "call": i}
                     for i, each in process.storages.items()}  # fmt: skip
    zero = np.zeros(len(offsets), np.int64)
    process.calls = dict.fromkeys(CALLS, np.zeros(0, np.int64))
    process.requests = dict.fromkeys(REQUESTS, zero) | {
        "begin": np.arange(len(offsets)), "offset": np.array(offsets, np.int64),
        "file": np.arange(len(offsets)) % files,
    }  # fmt: skip
    return Seat(process)


def longest_common(one: list[int], other: list[int]) -> int:
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            lengths[i + 1][j + 1] = (
                lengths[i][j] + 1 if a == b else max(lengths[i][j + 1], lengths[i + 1][j])
            )
    return lengths[-1][-1]


def test_what_is_equal_in_the_same_order() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        one, other = (rng.integers(0, 5, rng.integers(0, 40)).tolist() for _ in range(2))
        found = likeness([seat(one)], [seat(other)])
        assert found.equal == longest_common(one, other)
        assert found.alike == min(len(one), len(other))


@pytest.mark.parametrize("lost", [0, 1, 77, MANY - 1])
def test_one_request_less_does_not_make_all_others_different(lost: int) -> None:
    one = list(range(MANY))
    found = likeness([seat(one)], [seat(one[:lost] + one[lost + 1 :])])
    assert (found.equal, found.exact) == (MANY - 1, False)


def test_many_requests_are_compared_soon() -> None:
    """Few values again and again are what takes longest to put beside each other."""
    rng = np.random.default_rng(SEED)
    began = time.process_time()
    for values in (3, 10**9):
        one, other = (rng.integers(0, values, 3 * MANY).tolist() for _ in range(2))
        found = likeness([seat(one)], [seat(other)])
        assert found.equal <= found.alike == 3 * MANY
    assert time.process_time() - began < SOON


def test_many_files_are_told_apart_soon() -> None:
    """The others of the kind in a replay: names of files, and ranks of calls."""
    began = time.process_time()
    many = seat(list(range(2 * MANY)), MANY)
    assert len({each[0] for each in requests(many)}) == MANY
    plan = plan_of(many)
    step = cast("Step", SimpleNamespace(number=MANY - 1, key=(1, 0)))
    many.process.objects[1] = {"file": 1, "kind": "file", "path": "/"}
    assert sum(plan.ranks(step) for _ in range(MANY)) == 0
    steps = [SimpleNamespace(callback="file_create", begin=i, failed=False, given={"given": [name]})
             for i in range(MANY) for name in (f"{i % 7}/x.h5", f"{i}.h5")]  # fmt: skip
    made = cast("Plan", SimpleNamespace(steps=steps))
    files = files_of([made], Path("replay"), Choices())
    assert len(set(files.values())) == MANY + 7
    assert time.process_time() - began < SOON
