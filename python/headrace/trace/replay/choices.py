"""What a user says of a replay."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.trace.replay.stand_ins.inputs import StandIn


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
