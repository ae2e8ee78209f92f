"""headrace-bench as a case of a benchmark: it has no interpreter between its calls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.bench.child import telling
from headrace.bench.privacy import without_folders
from headrace.bench.stacks import BenchStack
from headrace.errors import HeadraceError
from headrace.measuring import programs
from headrace.measuring.programs import Library

from .evidence import LIMIT, RunError, disproof

_KEPT = ("phases", "bytes", "hdf5", "verified", "write_wall", "read_wall", "baseline")


@dataclass(frozen=True)
class Start:
    """How headrace-bench is started: one case of a kernel, on one process or under a launcher.

    `words` are the kernel's name and its options, and what headrace-bench takes before it. `more`
    is added to the variables of the stack, and may name a connector that HDF5 brings along. Without
    a library it is that of h5py.
    """

    case: str
    words: Sequence[str]
    more: Mapping[str, str] = field(default_factory=dict)
    library: Library | None = None
    launcher: Sequence[str] = ()

    def command(self, folder: Path) -> list[str]:
        """Raises RunError when something is not there."""
        try:
            program = programs.bench(None)
            library = self.library or programs.hdf5(None, parallel=False)
        except HeadraceError as error:
            raise RunError(str(error)) from None
        mpi = "yes" if self.launcher else "no"
        common = ["--hdf5", str(library.file), "--mpi", mpi, "--dir", str(folder)]
        samples = ["--samples", str(folder / "samples"), "--only", self.case]
        return [*self.launcher, str(program), *common, *samples, *self.words]


def sample(
    start: Start, stack: BenchStack, environ: Mapping[str, str], folder: Path
) -> dict[str, Any]:
    """What it told of one run; it compares what it reads itself.

    `folder` is where it writes. Raises RunError.
    """
    report, samples = folder / "report", folder / "samples"
    for file in (report, samples):
        file.unlink(missing_ok=True)
    variables = {**stack.environment(environ), **start.more}
    if stack.plan is not None:
        variables["HEADRACE_REPORT"] = str(report)
    command = start.command(folder)
    try:
        done = subprocess.run(
            command, env=variables, check=False, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"headrace-bench still ran after {LIMIT} s") from None
    if done.returncode != 0:
        said = " / ".join(telling(done.stderr)) or f"status {done.returncode}"
        raise RunError(without_folders(said, folder)[-600:])
    found: dict[str, Any] = json.loads(samples.read_text(encoding="utf-8").splitlines()[-1])
    connector = start.more.get("HDF5_VOL_CONNECTOR", stack.connector).split()[0]
    if found["connector"] != connector:
        raise RunError(f"HDF5 used the connector {found['connector']}, not {connector}")
    if found["verified"] is not True:
        raise RunError("what was read back was not verified")
    if reason := disproof(stack, [], report, folder):
        raise RunError(reason)
    return {name: found[name] for name in _KEPT if name in found}
