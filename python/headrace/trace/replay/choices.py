"""What a user says of a replay."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Choices:
    """`library`: the libhdf5, the program's where it is None; `inputs`: where files to read are."""

    library: Path | None = None
    inputs: Path | None = None
    compute: bool = False
    limit: float = 3600  # seconds of one replay
