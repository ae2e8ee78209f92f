"""What two ranks do, natively and with the log, as requests that the model can replay."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import program
from bench.common.evidence import LIMIT, RunError
from bench.common.ways import Way

from headrace.bench.child import telling
from headrace.bench.privacy import without_folders
from headrace.errors import HeadraceError
from headrace.logs.files import contents

from . import ledgers
from .cases import KERNEL, Case
from .execute import Runner
from .ledgers import WRITE, Records

CASE = Case("f-canonical-independent", (), 2)
_LOG = "log(mpi_logs=rank,canonicalise=close)"
# Kills a rank when all logs are whole, before the first of them is written to the file.
_CUT = "fault(kind=power_cut,outcome=kept,type=raw,op=write,rank=1)"


@dataclass(frozen=True)
class Recorded:
    """Requests by rank, and what `headrace-log` told of each rank's log."""

    native: Sequence[Records]
    settle: Sequence[Records]
    logs: Sequence[Mapping[str, Any]]


def record(runner: Runner) -> Recorded:
    """Runs the case three times; RunError."""
    native = _requests(runner, "model(ledger={})")
    settle = _requests(runner, _LOG + ",model(ledger={})")
    return Recorded(native, settle, _logs(runner))


def _requests(runner: Runner, layers: str) -> list[Records]:
    """By rank, of the file while it was written."""
    made, folder = runner.folder / "ledgers", runner.folder / "recorded"
    made.mkdir()
    try:
        if cause := _run(runner, layers.format(made), folder):
            raise RunError(cause)
        read = [ledgers.read(each) for each in sorted(made.glob("*.ledger"))]
        found = {rank: each for rank, each in read if (each["kind"] == WRITE).any()}
    finally:
        for path in (made, folder):
            shutil.rmtree(path, ignore_errors=True)
    if sorted(found) != list(range(CASE.ranks)):
        raise RunError("there is not a ledger for each rank")
    return [found[rank] for rank in range(CASE.ranks)]


def _run(runner: Runner, layers: str, folder: Path) -> str:
    """Why headrace-bench failed; empty when it did not."""
    if runner.mpi is None:
        raise RunError("no parallel HDF5")
    folder.mkdir()
    words = ["--keep", KERNEL, "--data", str(runner.data), "--case", CASE.name[0]]
    launcher = (*runner.mpi.launcher, "-n", str(CASE.ranks))
    start = program.Start(CASE.name, words, {}, runner.mpi.library, launcher)
    variables = runner.stacks.of(Way(layers, layers)).environment(runner.environ)
    try:
        done = subprocess.run(
            start.command(folder), env=variables, check=False, capture_output=True, text=True,
            timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RunError(f"headrace-bench still ran after {LIMIT} s") from None
    if done.returncode == 0:
        return ""
    said = " / ".join(telling(done.stderr)) or f"status {done.returncode}"
    return without_folders(said, folder)[-600:]


def _logs(runner: Runner) -> list[dict[str, Any]]:
    """What each rank's log holds when all begin to put the file in order."""
    folder = runner.folder / "recorded"
    try:
        cause = _run(runner, f"{_LOG},{_CUT}", folder)
        paths = sorted(folder.glob("*/*.headrace/*.tmp"), key=lambda path: path.suffixes)
        if len(paths) != CASE.ranks:
            raise RunError(f"the logs of ranks are not there: {cause}")
        return [told for path in paths for told in contents(path)]
    except HeadraceError as error:
        raise RunError(str(error)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
