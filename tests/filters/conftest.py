"""What tests of this folder run their programs under."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import Layer


@pytest.fixture
def filters(tmp_path: Path) -> Layer:
    """The connector alone, unless a program asks for more."""
    return Layer(tmp_path, "async", ("vol",), usual="seat=vol;")
