"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_layer import Log


@pytest.fixture
def layer(tmp_path: Path) -> Log:
    return Log(tmp_path)
