"""Run a program with a time limit; one that hangs shows where before it is ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.build import sanitized

Command = Sequence[str | Path]


@dataclass(frozen=True)
class Result:
    status: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def text(self) -> str:
        return (self.out + self.err).decode(errors="replace")


class TimeLimitError(AssertionError):
    """Carries the stacks of everything the command had running."""


def descendants(pid: int) -> list[int]:
    """The process and all below it: mpiexec moves its ranks to process groups of their own."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The command name, in brackets, may hold blanks and brackets.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # ended meanwhile

    def below(top: int) -> Iterator[int]:
        yield top
        for child in [pid for pid, parent in parents.items() if parent == top]:
            yield from below(child)

    return list(below(pid))


def stacks(pids: Sequence[int]) -> str:
    """C stacks by gdb where it is installed; Python ones come from faulthandler on SIGABRT."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return "(no gdb here: no C stacks)"
    shown = []
    for pid in pids:
        command = [gdb, "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all bt 40"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
            )
            text = done.stdout.decode(errors="replace")[-6000:]
        except subprocess.TimeoutExpired:
            text = "(gdb takes too long)"
        shown.append(f"--- process {pid}\n{text}")
    return "\n".join(shown)


def end(process: subprocess.Popen[bytes]) -> str:
    pids = descendants(process.pid)
    seen = stacks(pids)
    for number, grace in ((signal.SIGABRT, 5), (signal.SIGKILL, 5)):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            continue
    return seen


def run(command: Command, *, env: Mapping[str, str], cwd: Path, limit: float = 60) -> Result:
    """Output goes to files, not pipes: a child that outlives its parent cannot block us."""
    if "HDF5_VOL_CONNECTOR" in env or "HDF5_DRIVER" in env:
        env = sanitized(env)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in command],
            env={**env, "PYTHONFAULTHANDLER": "1"},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        stuck = None
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            stuck = end(process)
        except BaseException:  # the test itself is ended
            end(process)
            raise
        out.seek(0)
        err.seek(0)
        result = Result(process.wait(), out.read(), err.read(), time.monotonic() - begin)
    if stuck is not None:
        line = " ".join(map(str, command))
        raise TimeLimitError(
            f"{line}\nstill ran after {limit} s\n{stuck}\n--- its output\n{result.text[-4000:]}"
        )
    return result
