"""Runs a program in one way, once, and before it is followed asks for the advice."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import evidence, installed, process, program
from bench.common.evidence import RunError
from bench.common.mpi import OPEN_MPI, Mpi
from bench.common.settle import settle
from bench.common.ways import Stacks, Way

import headrace.trace
from headrace.bench import stacks
from headrace.bench.stacks import BenchStack
from headrace.trace.analysis.advice import advise
from headrace.trace.analysis.summary import uses

from .cases import FOLLOWED, Case
from .programs import text

_PAYLOAD = 256 << 20  # bytes, of the largest case, for the memory at hand


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    mpi: Mpi | None = None
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self.environ = {**OPEN_MPI, **self.environ}
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run; of a followed one with the gain that was told before it."""
        if way.name != FOLLOWED:
            return self.run(case, way, case.program.original)
        told = self.estimate(case)
        return self.run(case, way, case.program.after) | {"estimate": told}

    def estimate(self, case: Case) -> float:
        """Seconds that the rule promises for the program as it was."""
        folder = self.folder / "traced"
        shutil.rmtree(folder, ignore_errors=True)
        traced = case.stack(f"trace(output={folder})")
        self.run(case, Way("traced", traced), case.program.original)
        trace = headrace.trace.open(folder)
        gains = [each.gain for each in advise(trace, uses(trace)) if each.rule == case.program.rule]
        if not gains:
            raise RunError("the rule says nothing of the program that it is for")
        return max(gains)

    def run(self, case: Case, way: Way, source: str) -> dict[str, Any]:
        """What the timed process told; it has run under exactly the stack of `way`."""
        self.make(case)
        stack = self._stacks.of(way)
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        variables = stack.environment(self.environ)
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(report)
        settle(self.folder, _PAYLOAD)
        if case.program.kernel:
            return self.kernel(case, stack, source)
        answer = self.process(variables, text(source, case.size))
        # Programs name their files as they are in their folder.
        if reason := evidence.disproof(stack, answer["headrace"], report, Path()):
            raise RunError(reason)
        installed.require(self.installed)
        return {"write_wall": answer["elapsed"], "hdf5": answer["hdf5"]}

    def kernel(self, case: Case, stack: BenchStack, name: str) -> dict[str, Any]:
        """That case of the program's kernel, on two ranks."""
        if self.mpi is None:
            raise RunError("no parallel HDF5")
        launcher = (*self.mpi.launcher, "-n", str(case.ranks))
        words = [*case.program.kernel, str(case.size)]
        start = program.Start(name, words, {}, self.mpi.library, launcher)
        return program.sample(start, stack, self.environ, self.folder / "work")

    def make(self, case: Case) -> None:
        """What the program reads: natively, once for all of its runs."""
        work = self.folder / "work"
        if not work.exists():
            work.mkdir()
            if case.program.make:
                made = text(case.program.make, case.size)
                self.process(stacks.without_stack(self.environ), made)

    def process(self, environ: Mapping[str, str], source: str) -> dict[str, Any]:
        """What it told."""
        return process.module(f"{__package__}.child", [str(self.folder / "work"), source], environ)

    def forget(self) -> None:
        """Removes all files of a case."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
