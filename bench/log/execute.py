"""Runs a case in one way, once; proves that it was logged, and that a plain reader finds it all."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import installed, process, program
from bench.common.evidence import RunError
from bench.common.mpi import OPEN_MPI, Mpi
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way

from headrace import statistics
from headrace.bench import stacks
from headrace.bench.privacy import without_folders

from . import waiting
from .cases import KEPT, Case

_PAYLOAD = 128 << 20  # of the largest case, for the memory at hand


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    data: Path
    mpi: Mpi | None = None
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self.environ = {**OPEN_MPI, **self.environ}
        self.stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run, whose file has been compared with the one written natively."""
        reference = self.reference(case)
        folder = self.folder / "run"
        try:
            found = self.run(case, way, folder)
            if way != NATIVE:
                found["counted"] = _counted(folder / "report", needed=case.logs)
            file = _file(folder, case)
            if way in KEPT and (case.logs or waiting.leftovers(file)):
                # headrace-bench has read it through the layer; now it is put in order.
                found["log"] = waiting.describe(file, case.ranks)
                found["replay"] = waiting.replay(file, stacks.without_stack(self.environ))
            if left := waiting.leftovers(file):
                raise RunError(f"{left} is left")
            found["bytes"]["in order"] = file.stat().st_size
            self.verify(file, reference)
            installed.require(self.installed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return found

    def run(self, case: Case, way: Way, folder: Path) -> dict[str, Any]:
        """What headrace-bench told; it leaves the file in the folder, which is made anew."""
        folder.mkdir()
        words = case.words(self.data)
        start = program.Start(case.name, words)
        if case.ranks > 1:
            if self.mpi is None:
                raise RunError("no parallel HDF5")
            launcher = (*self.mpi.launcher, "-n", str(case.ranks))
            start = program.Start(case.name, words, {}, self.mpi.library, launcher)
        settle(self.folder, _PAYLOAD)
        return program.sample(start, self.stacks.of(way), self.environ, folder)

    def reference(self, case: Case) -> Path:
        """The file as native HDF5 writes it, kept until forget()."""
        folder = self.folder / "reference"
        if not _file(folder, case).exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a failed run has left
            self.run(case, NATIVE, folder)
        return _file(folder, case)

    def verify(self, file: Path, reference: Path) -> None:
        """Has a process without any plug-ins of ours compare all variables, byte for byte."""
        plain = stacks.without_stack(self.environ)
        try:
            answer = process.module(f"{__package__}.plain", [str(file), str(reference)], plain)
        except RunError as error:
            raise RunError(f"wrong data: {without_folders(str(error), file.parent)}") from None
        if answer["headrace"]:
            raise RunError("the reader that verifies ran under Headrace itself")
        if answer["fault"]:
            raise RunError(f"wrong data: {answer['fault']}")

    def forget(self) -> None:
        """Removes all files of a case."""
        for path in self.folder.iterdir():
            shutil.rmtree(path)


def _file(folder: Path, case: Case) -> Path:
    return folder / f"{case.command}-{case.name}" / "data.h5"


def _counted(report: Path, *, needed: bool) -> dict[str, int]:
    """What the layer says it did; RunError when it has logged nothing that is needed."""
    told = statistics.summed(report).get("headrace_log", Counter())
    if needed and not told.get("writes_logged"):
        raise RunError("nothing was logged: the layer left all writes to HDF5")
    return {name: told.get(name, 0) for name in ("writes_logged", "rows_logged")}
