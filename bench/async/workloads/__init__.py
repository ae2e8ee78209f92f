"""The programs that are timed: plain HDF5, they know nothing of Headrace.

Each is a module with `run(path, parameters, clock)`, which is timed and raises where it reads what
was not written, and `check(path, parameters)`, which names the first fault of a file to a reader
without plug-ins, or nothing. `prepare(path, parameters)` of some makes the file that is read.
"""  # noqa: N999

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Protocol, cast

from headrace.bench.peers.workload import Clock

Parameters = dict[str, Any]


class Workload(Protocol):
    """What the modules of this package are."""

    def run(self, path: Path, given: Parameters, clock: Clock) -> None: ...

    def check(self, path: Path, given: Parameters) -> str: ...

    def prepare(self, path: Path, given: Parameters) -> None: ...


def load(name: str) -> Workload:
    """The module of that name."""
    return cast("Workload", importlib.import_module(f"{__name__}.{name}"))
