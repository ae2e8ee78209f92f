"""Waits for what must come."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], object], limit: float = 60) -> None:
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, f"it has not come in {limit} s"
        time.sleep(0.001)
