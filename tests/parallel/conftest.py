"""Starting MPI programs. A missing prerequisite fails the test that needs it: nothing is skipped.

Tests marked `long` run when the environment says LONG=1, as `make test LONG=1` does.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness.prefix import Hdf5
from parallel.together import Together, built


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: too long for every day, see LONG=1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("LONG", "0") not in ("", "0"):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


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
