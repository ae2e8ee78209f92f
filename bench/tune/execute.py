"""Runs a case in one way, once, and looks at what it has written."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import evidence, installed, process, program
from bench.common.evidence import RunError
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way

from headrace.bench import stacks

from .cases import Case
from .programs import text

_PAYLOAD = 256 << 20  # bytes, of the largest case, for the memory at hand


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()
        self._contents: dict[str, str] = {}  # of files after a native run

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run; what it has written is what a native run writes."""
        work = self.folder / "work"
        if case.program is None:
            work.mkdir(exist_ok=True)
            settle(self.folder, _PAYLOAD)
            start = program.Start(case.name, case.words)
            return program.sample(start, self._stacks.of(way), self.environ, work)
        if not work.exists():
            work.mkdir()
            if case.program.make:
                self._run(text(case.program.make, 0), stacks.without_stack(self.environ))
        settle(self.folder, _PAYLOAD)
        found = self._python(case, way)
        installed.require(self.installed)
        plain = stacks.without_stack(self.environ)
        contents = process.module(f"{__package__}.contents", [str(work)], plain)
        if way.name == NATIVE.name:
            self._contents = contents
        elif contents != self._contents:
            raise RunError("plain HDF5 reads something else than after the native run")
        return found

    def _python(self, case: Case, way: Way) -> dict[str, Any]:
        assert case.program is not None
        stack = self._stacks.of(way)
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        variables = stack.environment(self.environ)
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(report)
        answer = self._run(text(case.program.text, case.parameters["N"]), variables)
        if reason := evidence.disproof(stack, answer["headrace"], report, Path()):
            raise RunError(reason)
        return {
            "write_wall": answer["elapsed"],
            **{name: answer[name] for name in ("bytes", "memory", "hdf5")},
        }

    def _run(self, source: str, environ: Mapping[str, str]) -> dict[str, Any]:
        words = [str(self.folder / "work"), source]
        return process.module(f"{__package__}.child", words, environ)

    def forget(self) -> None:
        """Removes all files of a case."""
        self._contents = {}
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
