"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "log")
