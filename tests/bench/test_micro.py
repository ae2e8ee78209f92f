"""The microbenchmark counts what it says, and refuses figures of what it did not measure."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

import headrace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.micro import stacks
from bench.micro.child import Child, ProofError
from bench.micro.measure import count_callbacks
from bench.micro.output import verdict
from bench.micro.programs import Operation, programs
from bench.micro.summary import Spread, cell

H5PY = programs(Path())[-1]
BY_NAME = {stack.name: stack for stack in stacks.STACKS}
ATTRIBUTE_READ = Operation("attribute read", 4)


@pytest.fixture
def plugins() -> Path:
    return headrace.plugin_path()


@pytest.mark.parametrize("name", BY_NAME)
def test_every_stack_is_proven(plugins: Path, name: str) -> None:
    run = Child(H5PY, BY_NAME[name], plugins).run(2, [ATTRIBUTE_READ.request()])
    assert len(run.times["attribute read"]) == 2
    assert bool(run.calls) == bool(BY_NAME[name].seats)


def test_a_stack_that_is_not_there_is_an_error(plugins: Path) -> None:
    pretended = dataclasses.replace(BY_NAME["both"], environment={})
    with pytest.raises(ProofError, match="wrong libraries"):
        Child(H5PY, pretended, plugins).run(1, [ATTRIBUTE_READ.request()])


def test_a_seat_that_is_not_there_is_an_error(plugins: Path) -> None:
    pretended = dataclasses.replace(BY_NAME["both"], environment=BY_NAME["vfd"].environment)
    with pytest.raises(ProofError, match=r"handled in \['vfd'\], not in \['vfd', 'vol'\]"):
        Child(H5PY, pretended, plugins).run(1, [ATTRIBUTE_READ.request()])


def test_a_failing_program_is_an_error(plugins: Path) -> None:
    with pytest.raises(ProofError, match="no such operation"):
        Child(H5PY, BY_NAME["native"], plugins).run(1, ["no such operation=1/1"])


def test_callbacks_are_counted_per_operation_and_layer(plugins: Path) -> None:
    once = count_callbacks(Child(H5PY, BY_NAME["vol"], plugins), ATTRIBUTE_READ)
    assert once["vol.attr_read"] == 1
    assert once["vol.attr_open"] == once["vol.attr_close"]
    thrice = count_callbacks(Child(H5PY, BY_NAME["vol x3"], plugins), ATTRIBUTE_READ)
    assert thrice["vol.attr_read"] == 3


def test_counts_of_an_iteration_are_per_link(plugins: Path) -> None:
    links = Operation("attribute read", 4, units=10)
    counted = count_callbacks(Child(H5PY, BY_NAME["vol"], plugins), links)
    assert counted["vol.attr_read"] == pytest.approx(0.1)


def test_added_time_pairs_the_repetitions() -> None:
    labels = {"program": "p", "hdf5": "h", "operation": "o", "stack": "s"}
    found = cell(labels, [11, 102, 1003], [10, 100, 1000], {"vol.attr_read": 1, "vol.attr_get": 1})
    assert found.added == Spread(2, 1)
    assert found.time.median == 102
    assert found.per_callback == 1
    assert found.resolved
    assert not found.misses_target


def test_target_is_missed_only_beyond_the_spread() -> None:
    labels = {"program": "p", "hdf5": "h", "operation": "o", "stack": "s"}
    steady = cell(labels, [701, 702, 703], [1, 2, 3], {"vol.attr_read": 1})
    assert steady.misses_target
    unsteady = cell(labels, [1, 702, 1403], [1, 2, 3], {"vol.attr_read": 1})
    assert unsteady.over_target
    assert not unsteady.misses_target
    assert "met in 0 of 2, missed in 1, too much noise to tell in 1" in verdict([steady, unsteady])
    uncounted = cell(labels, [701, 702, 703], [1, 2, 3], Counter())
    assert uncounted.per_callback is None
    assert json.dumps(uncounted.json())
