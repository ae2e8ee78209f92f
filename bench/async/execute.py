"""Runs a case in one way, once; proves what it ran on, and that what it wrote is right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import evidence, installed, process, program
from bench.common.evidence import RunError
from bench.common.settle import settle
from bench.common.ways import Stacks, Way

from headrace.bench import stacks
from headrace.bench.stacks import BenchStack

from .cases import KERNEL, Case

WRITE = ("create", "write", "flush", "close", "compute")
READ = ("open", "read", "close_read", "compute_read")


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def stack(self, way: Way) -> BenchStack:
        """The checked stack; raises HeadraceError."""
        return self._stacks.of(way)

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run: both sides where the case has both."""
        if case.workload == KERNEL:
            settle(self.folder, case.payload)
            start = program.Start("default-compact", case.parameters["words"], way.environ)
            found = program.sample(start, self.stack(way), self.environ, self.folder)
            installed.require(self.installed)
            return found
        name = "peer" if way.peer else case.workload
        sample: dict[str, Any] = {"phases": {}, "bytes": {}, "verified": True}
        for side in case.sides:
            given = case.parameters | {"side": side, "peer": way.peer}
            path = self.reference(name, given) if side == "read" else self.folder / "data"
            settle(self.folder, case.payload)
            answer = self.process(way, name, path, given)
            sample["hdf5"] = answer.get("hdf5", "")
            sample["phases"] |= {n: {"min": t, "max": t} for n, t in answer["phases"].items()}
            if side == "write":
                sample["bytes"]["file"] = _size(path)
                self.verify(name, path, given)
                _remove(path)
        installed.require(self.installed)
        sample["bytes"] |= {"written": case.payload, "read": case.payload}
        return sample | _walls(sample["phases"])

    def process(self, way: Way, name: str, path: Path, given: dict[str, Any]) -> dict[str, Any]:
        """What the timed process told; it has run under exactly the stack of `way`."""
        stack = self.stack(way)
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        variables = {**stack.environment(self.environ), **way.environ}
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(report)
        answer = _run(["run", name, str(path), json.dumps(given)], variables)
        reason = evidence.disproof(stack, answer["headrace"], report, path)
        if reason:
            raise RunError(reason)
        return answer

    def verify(self, name: str, path: Path, given: dict[str, Any]) -> None:
        """Has a process without any plug-ins of ours compare the whole file."""
        answer = _run(["check", name, str(path), json.dumps(given)], self._plain())
        if answer["headrace"]:
            raise RunError("the reader that verifies ran under Headrace itself")
        if answer["fault"]:
            raise RunError(f"wrong data: {answer['fault']}")

    def reference(self, name: str, given: dict[str, Any]) -> Path:
        """What is read: made natively, verified and kept until forget()."""
        path = self.folder / f"reference-{given['peer'] or 'hdf5'}"
        if not path.exists():
            _run(["prepare", name, str(path), json.dumps(given)], self._plain())
            self.verify(name, path, given)
        return path

    def forget(self) -> None:
        """Removes all files of a case."""
        for path in self.folder.iterdir():
            _remove(path)

    def _plain(self) -> dict[str, str]:
        return stacks.without_stack(self.environ)


def _run(words: list[str], environ: Mapping[str, str]) -> dict[str, Any]:
    return process.module(f"{__package__}.child", words, environ)


def _walls(phases: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Seconds of each side that there is."""
    walls = {}
    for wall, names in (("write_wall", WRITE), ("read_wall", READ)):
        found = [phases[name]["max"] for name in names if name in phases]
        if found:
            walls[wall] = sum(found)
    return walls


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
