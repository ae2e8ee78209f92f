"""Runs on several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.common.session import ROOT

from headrace.measuring import programs
from headrace.measuring.programs import Library

PARALLEL: Final = ROOT / "build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so"
PARALLEL_MPICH: Final = ROOT / "build/hdf5/2.2.0-mpich/install/lib/libhdf5.so"
# For root, in a container without the right to look into other processes, with few cores.
OPEN_MPI: Final = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


@dataclass(frozen=True)
class Mpi:
    """What runs on several ranks run on."""

    library: Library
    launcher: Sequence[str]


def mpi_of(file: Path) -> Mpi:
    """Of a parallel libhdf5; raises HeadraceError."""
    library = programs.hdf5(file, parallel=True)
    return Mpi(library, programs.launcher((), library))
