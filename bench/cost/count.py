"""Counts the operations of cost_ops under a stack."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common.evidence import RunError, disproof
from bench.cost import profile
from bench.cost.profile import Profile
from bench.cost.stacks import Hdf5, environment, planned

_LIMIT = 600  # seconds
_CALLGRIND = (
    "valgrind",
    "--quiet",
    "--tool=callgrind",
    "--instr-atstart=no",
    "--collect-atstart=no",
)


@dataclass(frozen=True)
class Cell:
    """Instructions of one operation, as a Profile has them."""

    parts: Mapping[str, int]
    of: Mapping[str, int]
    within: Mapping[str, int]

    @property
    def instructions(self) -> int:
        return sum(self.parts.values())


@dataclass(frozen=True)
class Counts:
    """Cells by operation, and what the program and libc were made by."""

    toolchain: str
    cells: dict[str, Cell]


def count(hdf5: Hdf5, name: str) -> Counts:
    """Runs the program twice: to prove the stack, and under callgrind. Raises RunError."""
    if not hdf5.program.exists():
        raise RunError(f"{hdf5.program} is missing: `make setup-test` builds it")
    stack = planned(name)
    environ = environment(name, stack, hdf5)
    with tempfile.TemporaryDirectory(prefix="headrace-cost-") as top:
        folder = Path(top)
        if stack is not None:
            report = folder / "report"
            _run([], hdf5, folder / "proof", environ | {"HEADRACE_REPORT": str(report)})
            if reason := disproof(stack, [], report, Path()):  # it names files without folders
                raise RunError(f"{name}: {reason}")
        dumps = f"--callgrind-out-file={folder}/dump"
        told = _run([*_CALLGRIND, dumps], hdf5, folder / "counted", environ)
        profiles = {each.name: each for each in map(profile.read, folder.glob("dump.*"))}
    toolchain, *operations = told.splitlines()
    times = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in operations}
    return Counts(
        f"{toolchain.partition(' ')[2]}, {next(iter(profiles.values())).creator}",
        {operation: _cell(profiles[operation], each) for operation, each in times.items()},
    )


def _cell(found: Profile, times: int) -> Cell:
    def per_call(counts: Counter[str]) -> dict[str, int]:
        return {name: round(number / times) for name, number in counts.items()}

    return Cell(per_call(found.parts), per_call(found.of), per_call(found.within))


def _run(tool: Sequence[str], hdf5: Hdf5, folder: Path, environ: Mapping[str, str]) -> str:
    folder.mkdir()
    command = [*tool, str(hdf5.program), "."]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=dict(environ),
            check=False,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        raise RunError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def least(runs: Sequence[Counts]) -> Counts:
    """Of each operation the run in which it was cheapest.

    What a layer does now and then, such as writing a full buffer, falls on one or another.
    """
    cells = {
        operation: min((run.cells[operation] for run in runs), key=lambda cell: cell.instructions)
        for operation in runs[0].cells
    }
    return Counts(runs[0].toolchain, cells)
