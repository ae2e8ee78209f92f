"""Runs open_together, the program of this folder: ranks that open a file together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.build import built
from harness.prefix import Hdf5
from harness.ranks import env_of, launch, told_by
from harness.report import Report
from harness.run import Command, Result, run


@dataclass(frozen=True)
class Together:
    hdf5: Hdf5
    folder: Path
    plugins: Path

    def env(self, connector: str, **more: str) -> dict[str, str]:
        return env_of(connector, self.plugins, self.folder / "report.jsonl", **more)

    def start(
        self, ranks: int, env: dict[str, str], *arguments: str, wrapper: Command = ()
    ) -> Result:
        program = built(f"tests/parallel/open_together_{self.hdf5.mpi}")
        command = [*launch(self.hdf5, ranks), *wrapper, program, *arguments]
        return run(command, env=env, cwd=self.folder, limit=60)

    def ranks(self, ranks: int, connector: str, *arguments: str) -> list[dict[str, Any]]:
        """What each rank printed about itself; they all must have succeeded."""
        done = self.start(ranks, self.env(connector), *arguments)
        assert done.status == 0, done.text
        told = told_by(done)
        assert len(told) == ranks, done.text
        return told

    @property
    def report(self) -> Report:
        return Report(self.folder / "report.jsonl")
