"""Runs open_together, the program of this folder: ranks that open a file together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.prefix import ROOT, Hdf5
from harness.report import Report
from harness.run import Result, run
from harness.stack import CLEAN, NATIVE

BUILD = ROOT / "build/dev"


def built(path: str) -> Path:
    found = BUILD / path
    assert found.exists(), f"{found} is missing: `make ctest` builds it"
    return found


def env_of(connector: str, plugins: Path, report: Path, **more: str) -> dict[str, str]:
    """An environment with one connector, and nothing else to find in the plug-in path."""
    # Ranks that wait give way: there are more of them than cores, and other work beside them.
    base = {**CLEAN, "OMPI_MCA_mpi_yield_when_idle": "1", **more}
    if connector == NATIVE:
        return base
    stack = {"HDF5_PLUGIN_PATH": str(plugins), "HDF5_VOL_CONNECTOR": connector}
    return {**base, **stack, "HEADRACE_REPORT": str(report)}


@dataclass(frozen=True)
class Together:
    hdf5: Hdf5
    folder: Path
    plugins: Path

    def env(self, connector: str, **more: str) -> dict[str, str]:
        return env_of(connector, self.plugins, self.folder / "report.jsonl", **more)

    def start(
        self, ranks: int, env: dict[str, str], *arguments: str, wrapper: Sequence[str] = ()
    ) -> Result:
        program = built(f"tests/parallel/open_together_{self.hdf5.mpi}")
        launch = [*self.hdf5.mpiexec, "-n", str(ranks), *wrapper, str(program)]
        return run([*launch, *arguments], env=env, cwd=self.folder, limit=60)

    def ranks(self, ranks: int, connector: str, *arguments: str) -> list[dict[str, Any]]:
        """What each rank printed about itself; they all must have succeeded."""
        done = self.start(ranks, self.env(connector), *arguments)
        assert done.status == 0, done.text
        # Ranks may print at the same moment: one line may hold two objects.
        lines = done.out.decode().replace("}{", "}\n{").splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        assert len(told) == ranks, done.text
        return told

    @property
    def report(self) -> Report:
        return Report(self.folder / "report.jsonl")
