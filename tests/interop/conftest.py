"""Where things are. A missing prerequisite fails the test that needs it: nothing is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.prefix import ROOT, Hdf5


@pytest.fixture(scope="session")
def tools() -> Hdf5:
    """The HDF5 whose command line tools are tested."""
    return Hdf5("1.14.5-openmpi")


@pytest.fixture(scope="session")
def hdf5_source() -> Path:
    """HDF5 1.14.5's source tree, for the sample files its own tests use."""
    path = ROOT / "build/hdf5/sources/1.14.5"
    assert path.is_dir(), f"{path} is missing: the set-up unpacks it"
    return path


@pytest.fixture(scope="session")
def cache() -> Path:
    """What is fetched once per checkout; `make clean` removes it."""
    path = ROOT / "build/interop"
    path.mkdir(parents=True, exist_ok=True)
    return path
