"""A setting that is malformed on one rank only: all ranks are told, and none waits for ever."""

from __future__ import annotations

import h5py
import pytest
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.ranks import succeed

RANK = "headrace_log mpi_logs=rank;under_vol=0;under_info={}"
MALFORMED = "HEADRACE_LOG_CANONICALISE=nonsense"
ASYNC = "headrace_async threads=1;under_vol=0;under_info={}"
ASYNC_LOG = "headrace_async threads=1;under_vol=7208;under_info={mpi_logs=rank;under_vol=0}"


def make() -> None:
    h5py.File("there.h5", "w").close()


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
def test_all_ranks_are_told_of_a_connection_string(layer: Layer, hdf5: Hdf5) -> None:
    layer.plain(make)
    malformed = RANK.replace("mpi_logs=rank", "mpi_logs=nonsense")
    files = ("made.h5", "there.h5")
    for one in succeed(layer, hdf5, 2, "mpi_refused", *files, connector=(RANK, malformed)):
        assert "mpi_logs" in one["create"], one
        assert "mpi_logs" in one["open"], one


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
def test_all_ranks_are_told_of_it(layer: Layer, hdf5: Hdf5) -> None:
    layer.plain(make)
    files = ("made.h5", "there.h5")
    told = succeed(layer, hdf5, 2, "mpi_refused", *files, connector=RANK, ON_RANK_1=MALFORMED)
    for one in told:
        assert "HEADRACE_LOG_CANONICALISE" in one["create"], told
        assert "HEADRACE_LOG_CANONICALISE" in one["open"], told
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
@pytest.mark.parametrize(
    ("stack", "value"),
    [(ASYNC, "threads=1"), (ASYNC_LOG, "threads=1"), (ASYNC_LOG, "mpi_logs=rank")],
    ids=["async", "async_above_log", "log_below_async"],
)
def test_all_ranks_are_told_through_async(layer: Layer, hdf5: Hdf5, stack: str, value: str) -> None:
    layer.plain(make)
    option = value.partition("=")[0]
    malformed = stack.replace(value, f"{option}=nonsense")
    files = ("made.h5", "there.h5")
    for one in succeed(layer, hdf5, 2, "mpi_refused", *files, connector=(stack, malformed)):
        assert option in one["create"], one
        assert option in one["open"], one
