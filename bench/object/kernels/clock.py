"""Seconds of a process, on the clock and of its processors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

Seconds = dict[str, float]


@contextmanager
def timed(found: Seconds, name: str) -> Iterator[None]:
    """Adds `NAME_wall` and `NAME_cpu`, of all threads, to what was found."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    for key, since in ((f"{name}_wall", time.perf_counter() - wall),
                       (f"{name}_cpu", time.process_time() - cpu)):  # fmt: skip
        found[key] = found.get(key, 0.0) + since


def require(right: object, what: str) -> None:
    """ValueError where what was read is not what was written."""
    if not right:
        raise ValueError(f"{what} is wrong")
