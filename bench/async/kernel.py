"""A kernel of headrace-bench as a case: it has no interpreter between its calls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.bench import programs
from headrace.bench.stacks import BenchStack
from headrace.errors import HeadraceError

from .evidence import LIMIT, RunError, disproof

NAME = "kernel"
_CASE = "default-compact"


def sample(
    given: Mapping[str, Any],
    stack: BenchStack,
    environ: Mapping[str, str],
    more: Mapping[str, str],
    folder: Path,
) -> dict[str, Any]:
    """What the kernel told of one run on the libhdf5 of h5py; it compares what it reads itself.

    `more` is added to the variables of the stack, and may name a connector that HDF5 brings along.
    """
    try:
        program, library = programs.bench(None), programs.hdf5(None, parallel=False)
    except HeadraceError as error:
        raise RunError(str(error)) from None
    report = folder / "report"
    report.unlink(missing_ok=True)
    variables = {**stack.environment(environ), **more}
    if stack.plan is not None:
        variables["HEADRACE_REPORT"] = str(report)
    common = ["--hdf5", str(library.file), "--mpi", "no", "--dir", str(folder), "--only", _CASE]
    command = [str(program), *common, *given["words"]]
    try:
        done = subprocess.run(
            command, env=variables, check=False, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{program.name} still ran after {LIMIT} s") from None
    if done.returncode != 0:
        raise RunError(done.stderr.strip()[-600:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    connector = more.get("HDF5_VOL_CONNECTOR", stack.connector).split()[0]
    if found["connector"] != connector:
        raise RunError(f"HDF5 used the connector {found['connector']}, not {connector}")
    if reason := disproof(stack, [], report, folder):
        raise RunError(reason)
    kept = ("phases", "bytes", "hdf5", "verified", "write_wall", "read_wall")
    return {name: found[name] for name in kept}
