"""SIGINT and SIGTERM, as batch systems send it, end a run in order.

The first signal raises Interrupted, or does so at the end of held() where an exception would do
harm. Those after it are only counted, until rearm(): what puts things in order is not disturbed.
"""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

_NUMBERS: Final = (signal.SIGTERM, signal.SIGINT)


class Interrupted(BaseException):
    """The user or the system wants an end. `samples` are those of the children that were ended.

    Like KeyboardInterrupt it is no error, so that nothing catches it by accident.
    """

    def __init__(self, samples: Sequence[dict[str, Any]] = ()) -> None:
        """Keeps them."""
        super().__init__()
        self.samples = list(samples)


@dataclass(slots=True)
class _State:
    count: int = 0
    held: int = 0


_state = _State()


def count() -> int:
    """Signals that came since rearm()."""
    return _state.count


def rearm() -> None:
    """The next signal raises again."""
    _state.count = 0


@contextmanager
def held() -> Iterator[None]:
    """Within it no signal raises; a first one does so at its end."""
    before = _state.count
    _state.held += 1
    try:
        yield
    finally:
        _state.held -= 1
        if before == 0 < _state.count and _state.held == 0:
            raise Interrupted


@contextmanager
def by_signals() -> Iterator[None]:
    """Within it signals raise Interrupted; afterwards they do what they did before."""
    rearm()
    previous = {number: signal.signal(number, _come) for number in _NUMBERS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _come(_number: int, _frame: FrameType | None) -> None:
    _state.count += 1
    if _state.count == 1 and not _state.held:
        raise Interrupted
