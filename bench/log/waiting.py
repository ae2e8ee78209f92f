"""Logs that wait beside a file: what is in them, and putting them in order."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from bench.common.evidence import LIMIT, RunError

from headrace.bench.privacy import without_folders
from headrace.errors import FileError
from headrace.logs.files import contents, waiting_logs

_REPLAY = "from headrace.cli import app; app()"


def describe(file: Path, ranks: int) -> dict[str, int]:
    """Of the logs of a file: writes, requests (runs of elements), bytes of data and index."""
    logs = waiting_logs(file)
    if len(logs) != ranks:
        raise RunError(f"{len(logs)} logs wait instead of {ranks}")
    found: Counter[str] = Counter()
    for log in logs:
        found.update(_describe(log))
    return dict(found)


def _describe(log: Path) -> dict[str, int]:
    try:
        (told,) = contents(log)
    except FileError as error:
        raise RunError(without_folders(str(error), log.parent)) from None
    if told["damage"] or not told["closed"]:
        raise RunError(f"the log is not whole: {told['damage'] or 'it was not closed'}")
    found = {name: sum(int(each[name]) for each in told["datasets"]) for name in ("writes", "rows")}
    return found | {name: int(told[name]) for name in ("data_bytes", "index_bytes", "patterns")}


def replay(file: Path, environ: Mapping[str, str]) -> float:
    """`headrace replay`, a process of its own; its seconds."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _REPLAY, "replay", str(file)],
            env=dict(environ),
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"headrace replay still ran after {LIMIT} s") from None
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise RunError(f"headrace replay: {without_folders(said, file.parent)}")
    return seconds


def leftovers(file: Path) -> str:
    """The folder of logs of a file that is in order, by name; empty when there is none."""
    folder = file.with_name(f"{file.name}.headrace")
    return folder.name if folder.exists() else ""
