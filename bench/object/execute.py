"""Runs a case in one way, once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import evidence, installed, process
from bench.common.evidence import RunError
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way

from headrace.bench import stacks

from . import hsds, suites
from .cases import GROWTH, SUITES, Case

_PAYLOAD = 256 << 20  # bytes, for the memory at hand
_TRIES = 3  # of operations that take a millisecond, the fastest of which counts
_SIDES = ("write", "read")


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    hsds: Path = hsds.VENV
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run; what takes long to make serves all of growth's."""
        if way.peer == "hsds":
            return self._beside_hsds(case.parameters["count"])
        work = self.folder / way.name.replace(" ", "-")
        if case.kernel != GROWTH:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(exist_ok=True)
        settle(self.folder, _PAYLOAD)
        if case.kernel == SUITES:
            found = suites.sample(self._environment(way, work), case.parameters, work)
        elif case.kernel == GROWTH:
            found = self._growth(case, way, work)
        else:
            found = self._both(case, way, work, _SIDES, case.parameters)
        installed.require(self.installed)
        if case.kernel != GROWTH:
            shutil.rmtree(work, ignore_errors=True)
        return found

    def forget(self) -> None:
        """Removes all files of a case."""
        for path in self.folder.iterdir():
            shutil.rmtree(path)

    def _environment(self, way: Way, work: Path) -> dict[str, str]:
        """Of processes of a way, with the store beside its files."""
        stack = self._stacks.of(way)
        variables = {
            **stack.environment(self.environ),
            "HEADRACE_OBJECT_STORE": str(work / "store"),
        }
        if stack.plan is not None:
            variables["HEADRACE_REPORT"] = str(work / "report")
        return variables

    def _both(self, case: Case, way: Way, work: Path, sides: tuple[str, ...],
              parameters: Mapping[str, Any]) -> dict[str, Any]:  # fmt: skip
        """Each side by a process of its own."""
        found: dict[str, Any] = {}
        for side in sides:
            # Files of HDF5's own that are opened under the layer.
            natively = side == "write" and parameters.get("pattern") == "native-files"
            found |= self._side(case, NATIVE if natively else way, work, side, parameters)
        return found

    def _side(self, case: Case, way: Way, work: Path, side: str,
              parameters: Mapping[str, Any]) -> dict[str, Any]:  # fmt: skip
        file = work / f"x-{parameters['count']}.h5"
        (work / "report").unlink(missing_ok=True)
        told = json.dumps({**parameters, "way": way.peer or way.name})
        words = [case.kernel, side, str(file), told]
        variables = self._environment(way, work)
        answer = process.module(f"{__package__}.child", words, variables)
        stack = self._stacks.of(way)
        if reason := evidence.disproof(stack, answer["headrace"], work / "report", file):
            raise RunError(reason)
        return {**answer["seconds"], "hdf5": answer["hdf5"]}

    def _growth(self, case: Case, way: Way, work: Path) -> dict[str, Any]:
        """Of a few and of many: seconds of each operation."""
        of = []
        for count in case.parameters["counts"]:
            given = {"of": case.parameters["of"], "count": count}
            if not (work / f"x-{count}.h5").exists():
                self._side(case, way, work, "write", given)
            (work / "added").mkdir(exist_ok=True)
            tries = []
            for _ in range(_TRIES):
                added = len(list((work / "added").glob(f"{count}-*")))
                (work / "added" / f"{count}-{added}").touch()
                tries.append(self._side(case, way, work, "read", {**given, "added": added}))
            names = [name for name in tries[0] if name != "hdf5"]
            of.append({name: min(each[name] for each in tries) for name in names})
        return {"of": of}

    def _beside_hsds(self, count: int) -> dict[str, Any]:
        if reason := hsds.missing(self.hsds):
            return {"skipped": reason}
        work = self.folder / "hsds"
        shutil.rmtree(work, ignore_errors=True)
        with hsds.server(self.hsds, work) as environ:
            return {f"{side}_wall": hsds.timed(self.hsds, environ, side, count) for side in _SIDES}
