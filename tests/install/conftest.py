"""Where things are. A missing prerequisite fails the test that needs it: nothing is skipped."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from install.commands import ROOT


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of this checkout as a commit of everything in it would be, HDF5 already built."""
    copy = tmp_path_factory.mktemp("checkout")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    for part in ("sources", "1.14.5-openmpi/install", "2.2.0-mpich/install"):
        built = ROOT / "build/hdf5" / part
        assert built.is_dir(), f"{built} is missing: run `make setup-test`"
        link = copy / "build/hdf5" / part
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(built)
    yield copy
    shutil.rmtree(copy)  # with its own environment and builds it is large
