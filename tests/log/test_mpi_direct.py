"""Files over MPI with logs: long pieces are HDF5's, by each rank alone, scattered ones logged."""

from __future__ import annotations

import pytest
from harness.prefix import Hdf5
from log.kept_by_ranks import LATER, REPLAY, logs_of, start
from log_layer import Log

CLOSE = "headrace_log mpi_logs=rank;under_vol=0;under_info={}"
NODE = "headrace_log mpi_logs=node;under_vol=0;under_info={}"

CHECK = """
for dataset in "contiguous", "chunked", "small_chunks", "deflated", "late":
    with h5py.File("x.h5") as file:
        found = file[dataset][()]
    expected = np.fromfile(f"x.h5.{dataset}.expected", found.dtype)
    assert np.array_equal(found, expected), (dataset, np.flatnonzero(found != expected)[:5])
print("right")
"""


@pytest.mark.parametrize(
    ("connector", "ranks", "seed"),
    [(CLOSE, 2, 1), (CLOSE, 3, 2), (LATER, 2, 3), (LATER, 3, 1), (NODE, 3, 4)],
)
def test_random_programs(layer: Log, hdf5: Hdf5, ranks: int, seed: int, connector: str) -> None:
    done = start(layer, hdf5, ranks, "mpi_direct", "x.h5", str(seed), connector=connector)
    assert done.status == 0, done.text
    assert done.out.decode().count('"rank"') == ranks, done.text
    assert layer.counted("writes_logged") > 20
    assert layer.counted("calls_left_to_hdf5") > 5
    if logs_of(layer, "x.h5"):
        assert layer.python(CHECK).out.decode().strip() == "right"
        layer.python(f"names = ['x.h5']\n{REPLAY}")
    assert layer.plain(CHECK) == "right"
    assert not list(layer.folder.glob("*.headrace")), "no log is left"
