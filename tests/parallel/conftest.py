"""Starting MPI programs. What is missing fails the test that needs it: nothing is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.build import NOT_BUILT, PLUGINS
from harness.prefix import Hdf5
from parallel.together import Together


@pytest.fixture(scope="session")
def plugins() -> Path:
    """The plug-ins as built, with the connector that only these tests use."""
    assert (PLUGINS / "libheadrace_talk.so").exists(), NOT_BUILT
    return PLUGINS


@pytest.fixture
def together(hdf5: Hdf5, tmp_path: Path, plugins: Path) -> Together:
    return Together(hdf5, tmp_path, plugins)
