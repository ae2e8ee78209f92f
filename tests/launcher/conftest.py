"""What the tests of this folder run."""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import Launcher, Programs


@pytest.fixture
def launch(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))
