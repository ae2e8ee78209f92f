"""Traces of kernels while they write."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common import program
from bench.common.evidence import LIMIT, RunError
from bench.common.mpi import OPEN_MPI, PARALLEL, mpi_of
from bench.common.ways import Stacks, Way

from headrace.bench import stacks
from headrace.bench.child import telling


@dataclass(frozen=True)
class Recording:
    """A case of a kernel of headrace-bench, as the results name it, and its sizes."""

    kernel: str
    case: str
    words: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"{self.kernel}/{self.case}"


def record(one: Recording, folder: Path, ranks: int = 1) -> Path:
    """The trace, in `folder`; raises RunError, and HeadraceError where there is no MPI."""
    trace, data = folder / "kernel.hrtrace", folder / "data"
    data.mkdir()
    environ = stacks.inherited() | OPEN_MPI
    layers = f"trace(arguments=true,output={trace})"
    variables = Stacks(environ).of(Way(layers, layers)).environment(environ)
    words = ["--no-read", one.kernel, *one.words]
    start = program.Start(one.case, words)
    if ranks > 1:
        mpi = mpi_of(PARALLEL)
        launcher = (*mpi.launcher, "-n", str(ranks))
        start = program.Start(one.case, words, {}, mpi.library, launcher)
    done = subprocess.run(
        start.command(data), env=variables, check=False, capture_output=True, text=True,
        timeout=LIMIT,
    )  # fmt: skip
    if done.returncode or not trace.exists():
        raise RunError(f"{one.name}: {' / '.join(telling(done.stderr)) or 'no trace'}")
    return trace
