"""Puts what a program has left in a log (canonicalise=later) in order in its file."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.errors import FileError
from headrace.log_files import waiting_logs
from headrace.plan import inherited_environment, prepare
from headrace.statistics import events

_SCRIPT: Final = Path(__file__).with_name("replay_child.py")
_REPORT: Final = "HEADRACE_REPORT"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What has been done to a file.

    Attributes:
        logs: Those that are in the file now, and gone.
        dropped: Bytes at their ends that no flush of the program had covered.
        foreign: Logs in the file's folder that do not belong to it.
        unverified: Datasets that were not compared, and the filters that are why.
    """

    logs: tuple[Path, ...]
    dropped: int
    foreign: tuple[Path, ...]
    unverified: tuple[tuple[str, str], ...]


def replay(file: Path, *, sync: bool = False, after_crash: bool = False) -> Replayed:
    """Writes the log of a file to its datasets, compares them with it, and removes it.

    Args:
        file: The HDF5 file.
        sync: Whether the file must survive a power cut before the log is removed.
        after_crash: Whether the program may have crashed: what its flushes cover is taken then.

    Raises:
        FileError: The file or its log cannot be used, or is not what the other belongs to. Both
            are as they were then.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    waiting = waiting_logs(file)
    options = {"verify": True, "sync": sync, "recover": after_crash}
    chosen = ",".join(f"{name}={str(on).lower()}" for name, on in options.items())
    told = _open_under(f"log({chosen})", file.resolve())
    dropped = [one["values"].get("uncovered_bytes", 0) for one in told["statistics"]]
    done = tuple(log for log in waiting if not log.exists())
    foreign = tuple(log for log in waiting if log.exists())
    if foreign and not done:
        raise FileError(f"{file}: log {foreign[0]} does not belong to it")
    unverified = tuple((one["dataset"], one["filter"]) for one in told["unverified"])
    return Replayed(done, max(dropped, default=0), foreign, unverified)


def _open_under(stack: str, file: Path) -> defaultdict[str, list[dict[str, Any]]]:
    """What a writer finds in a log it puts in order; returns the layer's events of the file."""
    if importlib.util.find_spec("h5py") is None:
        raise FileError("replaying needs h5py, which is not installed")
    environ = prepare(stack, None, inherited_environment()).apply(os.environ)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        report = Path(environ.get(_REPORT) or f"{folder}/report").absolute()
        start = report.stat().st_size if report.exists() else 0
        done = subprocess.run(
            [sys.executable, "-P", str(_SCRIPT), str(file)],
            env=environ | {_REPORT: str(report)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
            raise FileError(f"{file}: {last[0]}")
        told = defaultdict(list)
        for event in events(report, start):
            if event.get("file") == str(file):
                told[event["event"]].append(event)
        return told
