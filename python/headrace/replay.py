"""Puts what a program has left in a log (canonicalise=later) in order in its file."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.errors import FileError
from headrace.log_files import uncovered, waiting_logs
from headrace.plan import inherited_environment, prepare

_SCRIPT: Final = Path(__file__).with_name("replay_child.py")
_STACK: Final = "log(verify=true)"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What has been done to a file.

    Attributes:
        logs: Those that are in the file now, and gone.
        dropped: Bytes at their ends that no flush of the program had covered.
        foreign: Logs in the file's folder that do not belong to it.
    """

    logs: tuple[Path, ...]
    dropped: int
    foreign: tuple[Path, ...]


def replay(file: Path, *, sync: bool = False, after_crash: bool = False) -> Replayed:
    """Writes the log of a file to its datasets, compares them with it, and removes it.

    Args:
        file: The HDF5 file.
        sync: Whether the file must survive a power cut before the log is removed.
        after_crash: Whether the program may have left a log that ends amid what no flush covered.

    Raises:
        FileError: The file or its log cannot be used, or is not what the other belongs to. Both
            are as they were then.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    waiting = waiting_logs(file)
    tails = {log: uncovered(log) for log in waiting}
    if not after_crash and any(tails.values()):
        raise FileError(
            f"{file}: the program that wrote it did not close it; `headrace recover` takes what "
            "its flushes cover"
        )
    _open_under_the_layer(file.resolve(), sync=sync)
    done = tuple(log for log in waiting if not log.exists())
    foreign = tuple(log for log in waiting if log.exists())
    if foreign and not done:
        raise FileError(f"{file}: log {foreign[0]} does not belong to it")
    return Replayed(done, sum(tails[log] for log in done), foreign)


def _open_under_the_layer(file: Path, *, sync: bool) -> None:
    """What a writer finds in a log it puts in order."""
    if importlib.util.find_spec("h5py") is None:
        raise FileError("replaying needs h5py, which is not installed")
    stack = _STACK.replace(")", ", sync=true)") if sync else _STACK
    done = subprocess.run(
        [sys.executable, "-P", str(_SCRIPT), str(file)],
        env=prepare(stack, None, inherited_environment()).apply(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FileError(f"{file}: {last[0]}")
