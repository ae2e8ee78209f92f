"""Buffers of ranks in a GPU's memory, amid what is logged: HDF5 writes them, and no rank looks in.

Alone and in collective calls, of a contiguous dataset; by logs of ranks and nodes. Also by staging
over MPI and by ranks that write for their node, which would copy them, too.
"""

from __future__ import annotations

import pytest
from harness.build import built, preloads
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.ranks import start

BELOW = "under_vol=0;under_info={}"


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "connector",
    [
        f"headrace_log mpi_logs=rank;{BELOW}",
        f"headrace_log mpi_logs=node;canonicalise=later;{BELOW}",
        f"headrace_async seat=both;mpi_staging=true;{BELOW}",
        f"headrace_stripe files=3;size=4KiB;aggregate=node;{BELOW}",
    ],
)
def test_data_are_as_the_ranks_gave_them(layer: Layer, hdf5: Hdf5, connector: str) -> None:
    memory = preloads(built("tests/crash/libcuda.so.1"))
    done = start(layer, hdf5, 2, "mpi_device", "x.h5", connector=connector, LD_PRELOAD=memory)
    assert done.status == 0, done.text
    assert b"right" in done.out
    if "log" in connector:
        assert layer.counted("left_for_memory") == 4
        assert layer.counted("writes_logged") > 80
