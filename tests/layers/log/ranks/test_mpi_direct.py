"""Files over MPI with logs: long pieces are HDF5's, by each rank alone, scattered ones logged."""

from __future__ import annotations

from functools import partial

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.prefix import Hdf5
from layers.log.ranks.kept_by_ranks import LATER, logs_of, put_in_order, succeed

pytestmark = pytest.mark.sanitized

CLOSE = "headrace_log mpi_logs=rank;under_vol=0;under_info={}"
NODE = "headrace_log mpi_logs=node;under_vol=0;under_info={}"


def check_each_dataset() -> None:
    for dataset in "contiguous", "chunked", "small_chunks", "deflated", "late":
        with h5py.File("x.h5") as file:
            found = file[dataset][()]
        expected = np.fromfile(f"x.h5.{dataset}.expected", found.dtype)
        assert np.array_equal(found, expected), (dataset, np.flatnonzero(found != expected)[:5])
    print("right")


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("connector", "ranks", "seed"),
    [(CLOSE, 2, 1), (CLOSE, 3, 2), (LATER, 2, 3), (LATER, 3, 1), (NODE, 3, 4)],
)
def test_random_programs(layer: Layer, hdf5: Hdf5, ranks: int, seed: int, connector: str) -> None:
    succeed(layer, hdf5, ranks, "mpi_direct", "x.h5", str(seed), connector=connector)
    assert layer.counted("writes_logged") > 20
    assert layer.counted("calls_left_to_hdf5") > 5
    if logs_of(layer, "x.h5"):
        assert layer.python(check_each_dataset).out.decode().strip() == "right"
        layer.python(partial(put_in_order, "x.h5"))
    assert layer.plain(check_each_dataset) == "right"
    assert not list(layer.folder.glob("*.headrace")), "no log is left"
