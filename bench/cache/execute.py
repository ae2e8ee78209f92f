"""Runs a case in one way, once."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import evidence, installed, process
from bench.common.evidence import RunError
from bench.common.settle import settle
from bench.common.ways import Stacks, Way
from bench.log.waiting import leftovers, replay

from headrace.bench import stacks

from .cases import CHECKPOINTS, COPY, DISK, LOADERS, OURS, SIZES, STAGED, Case
from .data import FILE, make, make_sizes

_PAYLOAD = 256 << 20  # bytes, of the largest case, for the memory at hand
_SETTLED = 2.5  # seconds after which chunks of a file are kept
_SETTLED_FOR_DISKS = 31  # and on a disk
_LITTLE = "16MiB"  # of memory, less than there is to read


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run, which begins without any chunk in memory."""
        work = self.folder / "work"
        if not work.exists():
            work.mkdir()
            if case.kernel == SIZES:
                make_sizes(work, case.samples)
            elif case.kernel != CHECKPOINTS:
                make(work, case.samples, case.chunk)
            if case.kernel != CHECKPOINTS:
                time.sleep(_SETTLED_FOR_DISKS if case.kernel == DISK else _SETTLED)
        stack = self._stacks.of(way)
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        variables = {**stack.environment(self.environ)}
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(report)
        settle(self.folder, _PAYLOAD)
        words = [case.kernel, way.peer or way.name, str(work), json.dumps(case.parameters)]
        with tempfile.TemporaryDirectory(prefix="headrace-bench-", dir="/dev/shm") as shared:
            variables["HEADRACE_SHARED"] = shared
            variables |= self._on_disk(case, way)
            answer = process.module(f"{__package__}.child", words, variables)
            memory = sum(each.stat().st_blocks * 512 for each in Path(shared).iterdir())
        # Loaders that are forked open the file, not the process that was asked what it loaded.
        loaded = answer["headrace"] if case.kernel != LOADERS else []
        file = work / (FILE if case.kernel != CHECKPOINTS else "step-0-0.h5")
        if reason := evidence.disproof(stack, loaded, report, file):
            raise RunError(reason)
        if case.kernel == CHECKPOINTS and way.name != COPY:
            self._verify(work, case, staged=way.name == STAGED)
        installed.require(self.installed)
        first, *later = answer["epochs"]
        return {
            "first_wall": first, "read_wall": min(later, default=first), "epochs": answer["epochs"],
            "shared_bytes": memory, "hdf5": answer["hdf5"],
        }  # fmt: skip

    def _on_disk(self, case: Case, way: Way) -> dict[str, str]:
        """The folder of the node's disk, an empty one, for ways that use it."""
        node = self.folder / "node"
        shutil.rmtree(node, ignore_errors=True)
        node.mkdir()
        if case.kernel == CHECKPOINTS:
            queues = self.folder / "queues"
            queues.unlink(missing_ok=True)
            return {"HEADRACE_LOG_PATH": str(node), "HEADRACE_MODEL_SHARED": str(queues)}
        if case.kernel != DISK or way.name != OURS:
            return {}
        return {
            "HEADRACE_CACHE_PATH": str(node), "HEADRACE_CACHE_SIZE": "1GiB",
            "HEADRACE_CACHE_MEMORY": _LITTLE,
        }  # fmt: skip

    def _verify(self, work: Path, case: Case, *, staged: bool) -> None:
        """By a process without any layer, once all is in its file; then the files go."""
        files = sorted(work.glob("step-*.h5"))
        waiting = [each for each in files if leftovers(each)]
        if staged and len(waiting) != len(files):
            raise RunError("nothing was staged")
        plain = stacks.without_stack(self.environ)
        for each in waiting:
            replay(each, plain)
        words = ["verify_checkpoints", "", str(work), json.dumps(case.parameters)]
        process.module(f"{__package__}.child", words, plain)
        for each in files:
            each.unlink()

    def forget(self) -> None:
        """Removes all files of a case."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
