"""What a user says of a replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Choices:
    """`library`: the libhdf5, the program's where it is None; `inputs`: where files to read are.

    `kept`: a file of values to write, and the names of datasets in it (see `run.prepared`).
    """

    library: Path | None = None
    inputs: Path | None = None
    compute: bool = False
    limit: float = 3600  # seconds of one replay
    ranks: int = 0  # at most as many as were recorded; 0: as many
    mpiexec: tuple[str, ...] = ()  # what starts ranks; empty: the launcher of the library's MPI
    kept: tuple[Path, Mapping[str, str]] | None = None
