"""The environment that puts a stack of layers under a program, as a user would get it."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.build import PLUGINS, SANITIZER
from harness.run import run

NATIVE = "native"  # not a layer: HDF5 left alone
# HDF5's own sample connector, known to change what programs see.
PASS_THROUGH = "pass_through"  # noqa: S105

# Open MPI's programs share a folder, which the last one removes: one that starts just then fails.
MPI_FOLDER = "OMPI_MCA_orte_tmpdir_base"
_own_folder = tempfile.mkdtemp(prefix="mpi-")
atexit.register(shutil.rmtree, _own_folder, ignore_errors=True)

# Every test starts from an environment that says nothing about HDF5, Headrace or sanitizers.
_STEERS = ("HDF5", "HEADRACE", "ASAN_", "UBSAN_", "TSAN_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(_STEERS)}
CLEAN[MPI_FOLDER] = _own_folder

# The examples' connectors, which no package has, are where they were built.
EXAMPLES = {"memory"}

BASH_OWN = {"_", "PWD", "OLDPWD", "SHLVL"}


@functools.cache
def exported(spec: str) -> Mapping[str, str]:
    """What `headrace env` exports for the stack, read back through the shell it is meant for."""
    headrace = Path(sys.executable).with_name("headrace")
    assert headrace.exists(), f"the command {headrace} is missing: run `make setup-test`"
    built = {"HDF5_PLUGIN_PATH": str(PLUGINS)} if spec in EXAMPLES else {}
    command: list[str | Path] = [headrace, "env", "--stack", spec, "--shell", "bash"]
    shown = run(command, env={**CLEAN, **built}, cwd=Path("/"))
    assert shown.status == 0, f"headrace env --stack {spec!r}: {shown.text}"
    script = f"{shown.out.decode()}\nenv -0"
    sourced = run(["bash", "-euc", script], env=CLEAN, cwd=Path("/"))
    assert sourced.status == 0, f"{shown.text}\n{sourced.text}"
    pairs = (entry.split("=", 1) for entry in sourced.out.decode().split("\0") if "=" in entry)
    return {key: value for key, value in pairs if CLEAN.get(key) != value and key not in BASH_OWN}


def foreign_plugins() -> dict[str, str]:
    """The plug-in directories that a stack brings besides ours, for a native run beside it."""
    ours, _, others = exported("null")["HDF5_PLUGIN_PATH"].partition(":")
    assert list(Path(ours).glob("libheadrace_null*.so")), f"not our directory: {ours}"
    return {"HDF5_PLUGIN_PATH": others} if others else {}


def stack_env(spec: str, report: Path | None = None, **more: str) -> dict[str, str]:
    """A full environment for a child: the stack, the report it writes, further variables."""
    layers = {} if spec == NATIVE else dict(exported(spec))
    if layers and SANITIZER:  # in place of the installed plug-ins
        layers["HDF5_PLUGIN_PATH"] = ":".join([str(PLUGINS), *foreign_plugins().values()])
    reporting = {} if report is None or spec == NATIVE else {"HEADRACE_REPORT": str(report)}
    return {**CLEAN, **layers, **reporting, **more}
