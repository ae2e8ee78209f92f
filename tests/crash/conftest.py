"""Programs that meet hostile circumstances, run as children under a stack of layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.stacked import Stacked


@pytest.fixture
def stacked(tmp_path: Path) -> Stacked:
    return Stacked(tmp_path, "null(seat=both)")
