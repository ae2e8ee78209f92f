"""Runs a case in one way, once; proves what it ran on, and that what it wrote is right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.bench import stacks
from headrace.bench.stacks import BenchStack
from headrace.plugins import load_catalogue

from . import evidence, kernel
from .cases import Case, Way
from .evidence import LIMIT, RunError
from .settle import settle

ROOT = Path(__file__).resolve().parents[2]
WRITE = ("create", "write", "flush", "close", "compute")
READ = ("open", "read", "close_read", "compute_read")


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._catalogue = load_catalogue(self.environ)
        self._stacks: dict[str, BenchStack] = {}

    def stack(self, way: Way) -> BenchStack:
        """The checked stack; raises HeadraceError."""
        if way.layers not in self._stacks:
            self._stacks[way.layers] = stacks.resolve(
                way.layers, None, self.environ, self._catalogue
            )
        return self._stacks[way.layers]

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run: both sides where the case has both."""
        if case.workload == kernel.NAME:
            settle(self.folder, case.payload)
            return kernel.sample(
                case.parameters, self.stack(way), self.environ, way.environ, self.folder
            )
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
    command = [sys.executable, "-P", "-m", f"{__package__}.child", *words]
    path = os.pathsep.join([str(ROOT), *filter(None, [environ.get("PYTHONPATH")])])
    variables = {**environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(
            command, env=variables, check=False, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{words[0]} {words[1]} still ran after {LIMIT} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise RunError(" / ".join(lines[-3:]))
    return dict(json.loads(done.stdout.splitlines()[-1]))


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
