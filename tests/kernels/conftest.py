"""The HDF5 builds that the kernels run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.prefix import Hdf5
from kernels.bench_tool import Bench


@pytest.fixture(params=["serial", "1.14.5-openmpi", "2.2.0-mpich"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """A serial run, and two ranks on each parallel HDF5."""
    if request.param == "serial":
        return Bench(tmp_path)
    return Bench(tmp_path, Hdf5(request.param), ranks=2)


@pytest.fixture
def serial(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
