"""Where each HDF5 of the test matrix is, and how to start MPI programs that use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.build import ROOT

__all__ = ["MATRIX", "ROOT", "Hdf5"]
MATRIX = ("1.14.5-openmpi", "2.2.0-mpich")


@dataclass(frozen=True)
class Hdf5:
    name: str

    @property
    def prefix(self) -> Path:
        return ROOT / "build/hdf5" / self.name / "install"

    @property
    def mpi(self) -> str:
        return self.name.rpartition("-")[2]

    @property
    def mpiexec(self) -> list[str]:
        if self.mpi == "openmpi":
            return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe"]
        return [f"mpiexec.{self.mpi}"]

    def program(self, name: str) -> Path:
        path = self.prefix / "bin" / name
        assert path.exists(), f"{path} is missing: `make test` builds HDF5 {self.name}"
        return path
