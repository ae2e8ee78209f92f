"""Rules for files that ranks open together: what they change, and that nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.ranks import succeed

pytestmark = pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
PROGRAM = "tuned_ranks"
BELOW = "headrace_tune {}under_vol=0;under_info={{}}"


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "tune")


def ranks(
    layer: Layer, hdf5: Hdf5, case: str, options: str, count: int = 2
) -> list[dict[str, Any]]:
    told = {"connector": BELOW.format(options), "HEADRACE_LOG_LEVEL": "info"}
    return succeed(layer, hdf5, count, PROGRAM, case, **told)


@pytest.mark.parametrize("case", ["apart", "strided", "points", "flushed"])
def test_ranks_that_keep_apart(layer: Layer, hdf5: Hdf5, case: str) -> None:
    assert all(each["result"] == 0 for each in ranks(layer, hdf5, case, "check_ranks=true;", 3))


@pytest.mark.parametrize(
    ("case", "how", "elements"),
    [
        ("meet", "have both written", "[1010:1015]"),
        ("closed", "have both written", "[1010:1015]"),
        ("meet_points", "have both written", "[5]"),
        ("read", "have written and read", "[10:15]"),
    ],
)
def test_ranks_that_meet(layer: Layer, hdf5: Hdf5, case: str, how: str, elements: str) -> None:
    told = ranks(layer, hdf5, case, "check_ranks=true;", 3)
    assert all(each["result"] < 0 for each in told)
    (text,) = {each["told"] for each in told}
    assert how in text, text
    assert f"elements {elements} of dataset /numbers of file x.h5" in text
    assert "ranks 0 and " in text


def test_nobody_asks(layer: Layer, hdf5: Hdf5) -> None:
    assert all(each["result"] == 0 for each in ranks(layer, hdf5, "meet", ""))


def test_one_reads_for_all(layer: Layer, hdf5: Hdf5) -> None:
    """What all ranks read alike is shared; what they do not is read as ever."""
    ranks(layer, hdf5, "whole", "read_once=true;", 3)
    assert layer.counted("reads_shared") == 2 * 3
    ranks(layer, hdf5, "whole", "", 3)
    assert layer.counted("reads_shared") == 2 * 3


def test_hints_beside_those_of_the_program(layer: Layer, hdf5: Hdf5) -> None:
    options = "cb_nodes=2;cb_buffer_size=1MiB;collective_metadata=true;"
    for each in ranks(layer, hdf5, "hints", options):
        assert each["metadata"] == 0, "the program has not set it"
        if hdf5.mpi == "mpich":  # Open MPI's own MPI-IO leaves out what it does not know
            assert (each["cb_nodes"], each["cb_buffer_size"]) == ("1", str(1 << 20))
    assert "collective_metadata_read of x.h5 is changed" in layer.log
    assert "hints of x.h5: cb_nodes=2 cb_buffer_size=1048576" in layer.log


def test_all_ranks_are_told_of_options_of_one(layer: Layer, hdf5: Hdf5) -> None:
    for value, words in (("read_once=nonsense", "read_once"), ("read_once=true", "not the same")):
        both = (BELOW.format(""), BELOW.format(f"{value};"))
        for each in succeed(layer, hdf5, 2, PROGRAM, "refused", connector=both):
            assert each["result"] < 0
            assert words in each["told"]
