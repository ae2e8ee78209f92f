"""Runs a case in one way, once; proves what it ran on, and that it was recorded."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.build import BUILD
from bench.common import evidence, installed, process, program
from bench.common.evidence import RunError
from bench.common.mpi import OPEN_MPI, Mpi
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way
from bench.micro import stacks as micro
from bench.micro.child import Child, ProofError
from bench.micro.measure import BATCHES, count_callbacks
from bench.micro.programs import FILE_OPERATION, programs

from headrace.bench import stacks
from headrace.bench.stacks import BenchStack
from headrace.trace.model.segments import CALLS as TABLE
from headrace.trace.model.segments import segments

from .cases import CALLS, NULL, PYTHON, TRACE, Case

_OUTPUT = "HEADRACE_TRACE_OUTPUT"
_PAYLOAD = 128 << 20  # of the largest case, for the memory at hand
# What HDF5 calls besides, and the layer does not record.
_BETWEEN = ("wrap_", "info_", "introspect_", "token_")


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    data: Path | None = None
    mpi: Mpi | None = None
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self.environ = {**OPEN_MPI, **self.environ, _OUTPUT: str(self.folder / "traced")}
        self.stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()
        self._calls: dict[str, float] = {}

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run."""
        if case.operation is None:  # those fit into caches
            settle(self.folder, _PAYLOAD)
        stack = self.stacks.of(way)
        if case.operation is not None:
            found = self._operation(case, stack)
        elif case.kernel == PYTHON:
            found = self._python(case, stack)
        else:
            found = self._kernel(case, stack)
        installed.require(self.installed)
        traced = self.folder / "traced"
        if way.name not in (NATIVE.name, NULL.name):
            found["trace"] = _recorded(traced)
        elif traced.exists():
            raise RunError(f"there is a trace of {way.name}")
        self.forget()
        return found

    def _kernel(self, case: Case, stack: BenchStack) -> dict[str, Any]:
        start = program.Start(case.name, case.words(self.data))
        if case.ranks > 1:
            if self.mpi is None:
                raise RunError("no parallel HDF5")
            launcher = (*self.mpi.launcher, "-n", str(case.ranks))
            start = program.Start(case.name, start.words, {}, self.mpi.library, launcher)
        return program.sample(start, stack, self.environ, self.folder)

    def _python(self, case: Case, stack: BenchStack) -> dict[str, Any]:
        report = self.folder / "report"
        variables = stack.environment(self.environ)
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(report)
        path = self.folder / "data.h5"
        words = [case.name, str(path), json.dumps(case.parameters)]
        found = process.module(f"{__package__}.programs", words, variables)
        if reason := evidence.disproof(stack, found.pop("headrace"), report, path):
            raise RunError(reason)
        return found

    def _operation(self, case: Case, stack: BenchStack) -> dict[str, Any]:
        """The shortest batch: whatever else a machine does can only make one longer."""
        assert case.operation is not None
        name = case.operation.name
        subject = self._child(case, stack)
        try:
            done = subject.run(BATCHES, [case.operation.request()], reported=name != FILE_OPERATION)
            return {
                "hdf5": done.hdf5,
                "nanoseconds": min(done.times[name]),
                "calls": self._calls_of(case),
            }
        except ProofError as error:
            raise RunError(str(error)) from None

    def _child(self, case: Case, stack: BenchStack) -> Child:
        variables = stack.environment(self.environ)
        chosen = {k: v for k, v in variables.items() if k.startswith(("HDF5_", "HEADRACE_"))}
        plugins = Path(chosen.pop("HDF5_PLUGIN_PATH", ".").split(":")[0])
        seats = frozenset({"vol", "vfd"}) if stack.plan else frozenset[str]()
        compiled, *_, h5py = programs(BUILD)
        run = compiled if case.kernel == CALLS else h5py
        return Child(run, micro.Stack(stack.name, chosen, seats, stack.connector), plugins)

    def _calls_of(self, case: Case) -> float:
        """How many calls of HDF5's an operation is, as the layer records them."""
        key = f"{case.kernel}/{case.name}"
        if key not in self._calls:
            assert case.operation is not None
            counted = count_callbacks(self._child(case, self.stacks.of(TRACE)), case.operation)
            shutil.rmtree(self.folder / "traced")
            self._calls[key] = sum(
                calls
                for name, calls in counted.items()
                if name.startswith("vol.") and not name.removeprefix("vol.").startswith(_BETWEEN)
            )
        return self._calls[key]

    def forget(self) -> None:
        """Removes all files of a run."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _recorded(folder: Path) -> dict[str, int]:
    """Rows of calls and of requests, and what they take on the disk."""
    found = {"calls": 0, "requests": 0, "bytes": 0}
    for file in folder.glob("*.trace"):
        found["bytes"] += file.stat().st_size
        for each in segments(file.read_bytes()):
            if each.table:
                found["calls" if each.table == TABLE else "requests"] += each.rows
    if not found["calls"] or not found["requests"]:
        raise RunError("nothing was recorded")
    return found


def python() -> str:
    """What the programs in Python run on."""
    return sys.version.split()[0]
