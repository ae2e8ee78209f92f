"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer


@pytest.fixture
def object_layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "object", usual=f"store={tmp_path}/store;")
