"""A stream of small choices from the bytes hypothesis draws; zeros, the simplest, when they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._next = 0

    def byte(self) -> int:
        self._next += 1
        return self._raw[self._next - 1] if self._next <= len(self._raw) else 0

    def below(self, bound: int) -> int:
        """A number in [0, bound)."""
        if bound <= 1:
            return 0
        return (self.byte() if bound <= 256 else self.byte() * 256 + self.byte()) % bound

    def of(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def often(self, item: T, others: Sequence[T]) -> T:
        """The item in two of three cases."""
        return item if self.byte() < 170 else self.of(others)

    def rarely(self, one_in: int) -> bool:
        return self.byte() > 255 - 256 // one_in
