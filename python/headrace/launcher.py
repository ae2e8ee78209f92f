"""What an MPI launcher says to the processes that it starts, in their environment."""

from collections.abc import Mapping
from typing import Final

# Those of Open MPI, MPICH, Intel MPI and Slurm, the innermost first.
_SIZES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
_RANKS: Final = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")


def ranks(environ: Mapping[str, str]) -> int:
    """How many processes have been started together; 1 without a launcher."""
    return _first(environ, _SIZES, 1)


def rank(environ: Mapping[str, str]) -> int:
    """Which of them this one is."""
    return _first(environ, _RANKS, 0) if ranks(environ) > 1 else 0


def _first(environ: Mapping[str, str], names: tuple[str, ...], otherwise: int) -> int:
    found = (environ[name] for name in names if environ.get(name, "").isdecimal())
    return int(next(found, otherwise))
