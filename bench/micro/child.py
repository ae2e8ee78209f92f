"""Runs a program once under a stack, and proves what it ran on."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.micro.programs import Program
from bench.micro.stacks import Stack

CORE = "libheadrace_core.so"


class ProofError(RuntimeError):
    """A program did not run on what it should have run on."""


@dataclass(frozen=True)
class Run:
    """`times`: nanoseconds per operation of each batch. `calls`: callbacks by "seat.name"."""

    hdf5: str
    times: dict[str, list[float]]
    calls: Counter[str]


@dataclass(frozen=True)
class Child:
    """A program under a stack, with the folder of the plug-ins."""

    program: Program
    stack: Stack
    plugins: Path

    def run(self, batches: int, requests: Sequence[str], *, reported: bool = True) -> Run:
        """Runs it in a folder of its own; raises ProofError.

        Headrace adds a line to its report for each file opened, which would be timed too where
        opening files is; `reported` is false there, and the proof is then that HDF5 names the
        connector and that the plug-in's library is loaded.
        """
        with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
            variables = self._environment(os.environ)
            report = Path(folder) / "report"
            if reported:
                variables["HEADRACE_REPORT"] = str(report)
            command = [*self.program.command, folder, str(batches), *requests]
            done = subprocess.run(
                command, env=variables, check=False, capture_output=True, text=True
            )
            if done.returncode != 0:
                raise self._error(done.stderr.strip()[-2000:])
            output: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            calls = read_calls(report)
        self._prove_libraries(output)
        if reported:
            self._prove_calls(calls)
        return Run(output["hdf5"], output["nanoseconds"], calls)

    def _environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The caller's, with this stack instead of any settings of HDF5 or Headrace."""
        kept = {
            name: value
            for name, value in inherited.items()
            if not name.startswith(("HDF5_", "HEADRACE_"))
        }
        return kept | {"HDF5_PLUGIN_PATH": str(self.plugins)} | self.stack.environment

    def _prove_libraries(self, output: Mapping[str, Any]) -> None:
        """What the process itself saw: the file's connector, and whether the core was loaded."""
        connector = output.get("connector", self.stack.connector)  # h5py cannot ask for it
        if connector != self.stack.connector:
            raise self._error(f"the connector was {connector}, not {self.stack.connector}")
        if (CORE in output["libraries"]) != bool(self.stack.seats):
            raise self._error(f"wrong libraries: {output['libraries']}")

    def _prove_calls(self, calls: Counter[str]) -> None:
        """The counts of Headrace: files handled in exactly the seats that the stack has."""
        opening = {"vol": ("file_create", "file_open"), "vfd": ("open",)}
        handled = {
            seat
            for seat, names in opening.items()
            if any(calls[f"{seat}.{name}"] for name in names)
        }
        if handled != self.stack.seats:
            wanted = sorted(self.stack.seats)
            raise self._error(f"files were handled in {sorted(handled)}, not in {wanted}")

    def _error(self, message: str) -> ProofError:
        return ProofError(f"{self.program.name}, {self.stack.name}: {message}")


def read_calls(report: Path) -> Counter[str]:
    """The "counts" lines of a report, added up."""
    calls: Counter[str] = Counter()
    if not report.exists():
        return calls
    for line in report.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "counts" and event["name"].startswith("headrace_"):
            calls.update({f"{event['seat']}.{name}": n for name, n in event["calls"].items()})
    return calls
