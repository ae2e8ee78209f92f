"""What a user says of a replay."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


_SHOWN: Final = 5  # objects that a stand-in has not


@dataclass(frozen=True)
class StandIn:
    """A file in place of one that is not there. `unknown`: what it has not, and why.

    `tokens`: what references of the program's file are in this one.
    """

    name: str
    file: Path
    datasets: int
    unknown: tuple[str, ...]
    tokens: Mapping[str, str]

    @property
    def words(self) -> str:
        """What a user is told."""
        datasets = f"{self.datasets} dataset{'' if self.datasets == 1 else 's'}"
        text = f"{self.name} is not there: a stand-in with {datasets} was made of what "
        text += "the trace knows"
        if self.unknown:
            more = len(self.unknown) - _SHOWN
            text += ", without " + "; ".join(self.unknown[:_SHOWN])
            text += f"; and {more} more" if more > 0 else ""
        return text


@dataclass(frozen=True)
class Choices:
    """`library`: the libhdf5, the program's where it is None; `inputs`: where files to read are.

    `kept`: a file of values to write, and the names of datasets in it (see `run.prepared`).
    `stand_ins`: in place of inputs that are not there, by their names in the trace.
    """

    library: Path | None = None
    inputs: Path | None = None
    compute: bool = False
    limit: float = 3600  # seconds of one replay
    until: float = math.inf  # by time.monotonic(): no replay lasts longer
    ranks: int = 0  # at most as many as were recorded; 0: as many
    mpiexec: tuple[str, ...] = ()  # what starts ranks; empty: the launcher of the library's MPI
    kept: tuple[Path, Mapping[str, str]] | None = None
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """What a process that starts now may take."""
        return max(min(self.limit, self.until - time.monotonic()), 0)
