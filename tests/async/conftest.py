"""The layer that tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from async_layer import Async


@pytest.fixture
def layer(tmp_path: Path) -> Async:
    return Async(tmp_path)
