"""What tests of this folder run their programs under: the layer, and the libhdf5 of C programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.prefix import Hdf5
from log_layer import Log
from long_tests import pytest_collection_modifyitems, pytest_configure

__all__ = ["pytest_collection_modifyitems", "pytest_configure"]


@pytest.fixture
def layer(tmp_path: Path) -> Log:
    return Log(tmp_path)


@pytest.fixture(params=["1.14.5-openmpi", "2.2.0-mpich"])
def hdf5(request: pytest.FixtureRequest) -> Hdf5:
    return Hdf5(request.param)
