"""What is said to a program's author."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.units import seconds

NO_RISK: Final = "none: the file stays the same for every reader"
OTHER_FILE: Final = "files that are there already must be written anew"


@dataclass(frozen=True)
class Advice:
    """One piece of it.

    `rule` is the name of what has found it; `line` is where the program makes most of the calls
    that it is about, FILE:NUMBER, empty where it is not known. `gain` is in seconds of the process
    that waited longest, and `estimate` says how it was found. `stack`: the layers that do what is
    advised without a change to the program; empty where none do. `options`: those of the commands
    in `code` and `risk` that are about this dataset; they write the file `source` anew.
    """

    rule: str
    subject: str
    evidence: str
    change: str
    code: str
    gain: float
    estimate: str
    risk: str = NO_RISK
    line: str = ""
    stack: str = ""
    options: tuple[str, ...] = ()
    source: str = ""

    @property
    def place(self) -> str:
        """The line as people name it; empty where it is not known."""
        file, _, number = self.line.rpartition(":")
        return f"line {number} of {Path(file).name}" if file else ""

    def __str__(self) -> str:
        """In a few sentences."""
        where = f" ({self.place})" if self.place else ""
        return (
            f"{self.subject}{where}: {self.evidence}. {self.change}: {self.code}. "
            f"Spares about {seconds(self.gain)}: {self.estimate}. Risk: {self.risk}"
        )


@dataclass(frozen=True)
class Code:
    """The same change in h5py, in C and, where that differs from both, with netCDF's library."""

    h5py: str
    c: str
    netcdf: str = ""

    def of(self, *, python: bool, netcdf: bool = False) -> str:
        """That of the program's language and library."""
        if netcdf and self.netcdf:
            return self.netcdf
        return self.h5py if python else self.c
