"""Runs one process, follows its progress, and reads the sample it leaves."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.bench import interrupt
from headrace.bench.interrupt import Interrupted

Progress = Callable[[float], None]

_GRACE: Final = 15.0  # seconds that children get to leave in order
_PERIOD: Final = 0.5  # seconds between two looks at the progress
_OURS: Final = "headrace-bench: "
# MPI launchers frame what they add.
_FRAME: Final = re.compile(r"[-=]{10,}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a process ended: its status, what it said, and the samples it wrote."""

    status: int
    errors: str
    samples: list[dict[str, Any]]

    def reason(self) -> str:
        """What it said of why it ended, for a message."""
        lines = telling(self.errors)
        if self.status < 0:
            with contextlib.suppress(ValueError):
                lines.append(f"ended by {signal.Signals(-self.status).name}")
        return " / ".join(lines[-3:])[-600:] or f"ended with status {self.status}"


def telling(said: str) -> list[str]:
    """The lines that tell a reason, each once: those of headrace-bench, else the last ones.

    What an MPI launcher adds at the end is left out.
    """
    lines = list(dict.fromkeys(line.strip() for line in said.splitlines() if line.strip()))
    ours = [line.removeprefix(_OURS) for line in lines if line.startswith(_OURS)]
    if ours:
        return ours[:3]
    frame = next((at for at, line in enumerate(lines) if _FRAME.match(line)), 0)
    return (lines[:frame] or lines)[-3:]


def run(
    command: Sequence[str],
    environ: Mapping[str, str],
    samples: Path,
    progress: Progress | None = None,
) -> Outcome:
    """Runs a command that appends its samples to a file; raises Interrupted, OSError.

    It gets a session of its own: Ctrl-C reaches this process only, which then ends all of them.
    What it says goes to a file: a pipe would wake this process up, at the expense of the command.
    """
    said = samples.with_name("said")
    for file in (samples, said):
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
    process: subprocess.Popen[bytes] | None = None
    try:
        # A signal in the middle of it would leave a process that nobody knows of.
        with interrupt.held(), said.open("wb") as output:
            process = subprocess.Popen(
                list(command),
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        status = process.wait() if progress is None else _watch(process, said, progress)
    except Interrupted:
        if process is not None:
            _end(process)
        raise Interrupted(_take(samples)) from None
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    words = [line for line in lines if _done(line) is None]
    return Outcome(status, "\n".join(words), _take(samples))


def _watch(process: "subprocess.Popen[bytes]", said: Path, progress: Progress) -> int:
    """Waits for the end, and looks now and then how far it is."""
    with said.open("rb") as stream:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_PERIOD)
            for line in stream.read().decode("utf-8", "replace").splitlines():
                done = _done(line)
                if done is not None:
                    progress(done)


def _done(text: str) -> float | None:
    if not text.startswith('{"progress"'):
        return None
    try:
        return float(json.loads(text)["progress"]["done"])
    except (ValueError, LookupError, TypeError):
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Asks the whole session to end, waits, and insists: at once when another signal comes."""
    seen, end = interrupt.count(), time.monotonic() + _GRACE
    _signal(process, signal.SIGTERM)
    while time.monotonic() < end and interrupt.count() == seen:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PERIOD / 5)
            break
    # Also for what a launcher that has ended left behind.
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _take(samples: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of samples, which is then removed."""
    try:
        lines = samples.read_text(encoding="utf-8", errors="replace").splitlines()
        samples.unlink()
    except OSError:
        return []
    records = []
    for line in lines:
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict):
                records.append(record)
    return records
