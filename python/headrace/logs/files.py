"""Logs of the log layer that wait beside a file; docs/formats/log.md has what is in them."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.filesize import decimal

from headrace.errors import FileError
from headrace.logs.staged import remove_log
from headrace.plugins import library_dir

_MARKER: Final = Path(__file__).with_name("marker_child.py")
_OWNED: Final = re.compile(r"[0-9a-f]{32}(?=\.)")


def folder_of(file: Path) -> Path:
    """Where the logs of a file are, be they its own or not."""
    path = file.resolve()
    return path.with_name(path.name + ".headrace")


def waiting_logs(file: Path) -> list[Path]:
    """Those in the folder beside a file, be they its own or not."""
    return sorted(folder_of(file).glob("*.log"))


def contents(log: Path) -> list[dict[str, Any]]:
    """What `headrace-log` tells of a log, or of all that are in a file of several ranks.

    Raises:
        FileError: It cannot be read or holds nonsense.
    """
    program = library_dir().parent / "bin/headrace-log"
    try:
        # Names of datasets may be any bytes.
        done = subprocess.run(
            [program, log], capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise FileError(f"{program}: {error.strerror}") from None
    if done.returncode != 0:
        raise FileError(f"{log}: {done.stderr.strip() or f'status {done.returncode}'}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def covers_nothing(log: Path) -> bool:
    """Whether no flush of the file covers anything that a log holds."""
    # What a rank has read of its own writes is in its index before it is flushed.
    of_rank = "." in log.stem

    def nothing(told: dict[str, Any]) -> bool:
        unflushed = of_rank and not told["closed"] and not told["epoch"]
        return (not told["datasets"] or unflushed) and not told["damage"]

    return all(nothing(told) for told in contents(log))


def was_never_flushed(cause: str, logs: list[Path]) -> bool:
    """Whether HDF5 says so of a file that it cannot open, and these logs do."""
    phrases = ("file signature not found", "truncated file")
    return any(phrase in cause for phrase in phrases) and all(map(covers_nothing, logs))


@dataclass(frozen=True, slots=True)
class Foreign:
    """What is in the folder of a file and belongs to another one, or to none.

    Attributes:
        paths: A log, the other logs of its ranks or nodes, and copies that were made with them.
        doubt: Why somebody may need it; empty where nobody can.
    """

    paths: tuple[Path, ...]
    doubt: str

    def remove(self) -> None:
        """Removes all, and the folder when nothing else is in it."""
        for path in self.paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                remove_log(path)
        with contextlib.suppress(OSError):
            self.paths[0].parent.rmdir()


def foreign_logs(file: Path) -> list[Foreign]:
    """What is in the folder of a file, which need not be there, but its own log.

    Raises:
        FileError: The file is in use, or cannot be asked which log is its.
    """
    if file.is_file() and _in_use(file):
        raise FileError(f"{file}: a program has it open")
    own = _marker(file) if file.is_file() else ""
    groups = defaultdict(list)
    for path in sorted(folder_of(file).iterdir()) if folder_of(file).is_dir() else []:
        if (found := _OWNED.match(path.name)) and found[0] != own:
            groups[found[0]].append(path)
    return [Foreign(tuple(paths), _doubt(paths)) for paths in groups.values()]


def _marker(file: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    done = subprocess.run(
        [sys.executable, "-P", _MARKER, file],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0 or was_never_flushed(done.stderr, waiting_logs(file)):
        return done.stdout.strip()
    cause = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
    raise FileError(f"{file}: {cause[0]}, so that nobody can tell which log is its own")


def _doubt(paths: list[Path]) -> str:
    logs = [path for path in paths if path.suffix == ".log"]
    if any(_in_use(path) for path in paths if path.is_file()):
        return "is in use"
    try:
        told = [one for log in logs for one in contents(log)]
    except FileError as error:
        return f"cannot be read: {error}"
    if any(one["damage"] for one in told):
        return "is damaged"
    if not all(one["closed"] for one in told):
        return "was not closed: its program was killed, or is at work"
    data = sum(one["data_bytes"] for one in told)
    return f"holds {decimal(data)} of data" if data else ""


def _in_use(path: Path) -> bool:
    with path.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # there are no locks
            return False
    return False
