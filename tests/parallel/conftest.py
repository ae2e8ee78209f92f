"""Starting MPI programs. What is missing fails the test that needs it: nothing is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.prefix import Hdf5
from long_tests import pytest_collection_modifyitems, pytest_configure
from parallel.together import Together, built

__all__ = ["pytest_collection_modifyitems", "pytest_configure"]


@pytest.fixture(scope="session", params=["1.14.5-openmpi", "2.2.0-mpich"])
def hdf5(request: pytest.FixtureRequest) -> Hdf5:
    """Each parallel HDF5 of the test matrix, and with it each MPI."""
    return Hdf5(request.param)


@pytest.fixture(scope="session")
def plugins() -> Path:
    """The plug-ins as built, with the connector that only these tests use."""
    return built("lib/plugins/libheadrace_talk.so").parent


@pytest.fixture
def together(hdf5: Hdf5, tmp_path: Path, plugins: Path) -> Together:
    return Together(hdf5, tmp_path, plugins)
