"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer


@pytest.fixture
def tune(tmp_path: Path) -> Layer:
    """The layer over native HDF5, with all of its rules."""
    return Layer(tmp_path, "tune", always="seat=both;", usual="")
