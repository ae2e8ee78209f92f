"""Zeros that HDF5 fills new storage with are not written over MPI, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.ranks import succeed
from harness.stack import NATIVE

CONTIGUOUS = 60 * 512 * 8  # bytes of a dataset
CHUNKED = 18 * 3 * 7 * 200 * 8  # made twice as long
LAST = 20  # bytes at most: of each filling the last one is written, by each rank


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
@pytest.mark.parametrize("below", ["native", "async", "stripe"])
def test_the_same_bytes(tmp_path: Path, hdf5: Hdf5, below: str) -> None:
    under = {
        "native": "under_vol=0;under_info={}",
        "async": "under_vol=7206;under_info={seat=both;under_vol=0;under_info={}}",
        "stripe": "under_vol=7214;under_info={files=1;fuse=close;under_vol=0;under_info={}}",
    }[below]
    tune = Layer(tmp_path, "tune", ("vol", "vfd"))
    found = []
    for connector in (NATIVE, f"headrace_tune seat=both;{under}"):
        succeed(tune, hdf5, 3, "filled_ranks", connector=connector)
        found.append((tmp_path / "x.h5").read_bytes())
    assert found[0] == found[1]
    # One of the contiguous datasets may find a place within the file.
    assert tune.counted("fill_left_out_bytes") >= 3 * CONTIGUOUS + 2 * CHUNKED - LAST
