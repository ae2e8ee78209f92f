"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer, async_over


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return async_over(tmp_path)
