"""The time that a search may take, by the clock, from the start of the command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class OverError(Exception):
    """The budget is over amid something that is of no use unless it ends."""


class Budget:
    """Seconds from now on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is another one in tests."""
        self._clock = clock
        self.seconds = seconds
        self.until = clock() + seconds

    @property
    def left(self) -> float:
        """Less than nothing when it is over."""
        return self.until - self._clock()

    @property
    def used(self) -> float:
        """Since the start."""
        return self.seconds - self.left
