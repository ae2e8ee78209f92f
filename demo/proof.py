"""Runs the program, and proves that Headrace was there and that a plain reader sees no change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMPARE = Path(__file__).resolve().parent / "compare.py"
# Codecs differ in how small they get the same data; a file may be this much larger than native's.
LARGER = 0.01
DUMPED = 20_000_000  # bytes: of larger files h5dump prints hundreds of megabytes


class ProgramError(RuntimeError):
    """A program of the demonstration failed."""


@dataclass(frozen=True)
class Run:
    """One run of the program. `calls`: callbacks of Headrace's by "seat.name"."""

    output: Path
    objects: int
    seconds: dict[str, float]  # "write", "read"
    calls: Counter[str]
    created: frozenset[str]  # files that Headrace created


@dataclass(frozen=True)
class Check:
    """A claim, whether it holds (None: it could not be checked), and what speaks against it."""

    claim: str
    passed: bool | None
    details: list[str] = field(default_factory=list)


def environment(report: Path | None = None) -> dict[str, str]:
    """The caller's, without any settings of HDF5 or Headrace but the report."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HDF5_", "HEADRACE_"))
    }
    return kept if report is None else kept | {"HEADRACE_REPORT": str(report)}


def output_of(command: Sequence[str], folder: Path, report: Path | None = None) -> bytes:
    """Standard output of a command run in a folder."""
    done = subprocess.run(
        command, cwd=folder, env=environment(report), check=False, capture_output=True
    )
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise ProgramError(f"{' '.join(command)}: status {done.returncode}\n{message}")
    return done.stdout


def run(command: Sequence[str], source: Path, output: Path, report: Path | None = None) -> Run:
    """Runs the program from `source` to `output`."""
    output.unlink(missing_ok=True)
    text = output_of([*command, str(source), str(output)], output.parent, report)
    said: dict[str, Any] = json.loads(text.splitlines()[-1])
    calls: Counter[str] = Counter()
    created: set[str] = set()
    for event in read_report(report):
        if event["event"] == "counts":
            calls.update({f"{event['seat']}.{name}": n for name, n in event["calls"].items()})
        if event["event"] == "file" and event["call"] == "file_create" and event["ok"]:
            created.add(event["file"])
    return Run(output, said["objects"], said["seconds"], calls, frozenset(created))


def read_report(report: Path | None) -> Iterator[dict[str, Any]]:
    """The events that Headrace reported; none when it was not there."""
    if report is not None and report.exists():
        for line in report.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def checks(source: Path, native: Run, ours: Run) -> list[Check]:
    """All that is claimed about the two runs."""
    found = [
        handled(ours),
        compared("h5py without plug-ins: content as in the original", source, ours.output),
        compared(
            "h5py without plug-ins: content and storage as natively written",
            native.output, ours.output, "--storage",
        ),
    ]  # fmt: skip
    small = source.stat().st_size <= DUMPED
    dumps = dumped(native, ours) if small else Check("too large to compare h5dump's dumps", None)
    return [*found, dumps, sized(native, ours)]


def sized(native: Run, ours: Run) -> Check:
    """Is the file as small as the one written natively?"""
    before, after = (each.output.stat().st_size for each in (native, ours))
    claim = f"the file is at most {LARGER:.0%} larger: {after:,} bytes, natively {before:,}"
    return Check(claim, after <= before * (1 + LARGER))


def handled(ours: Run) -> Check:
    """Did the connector and the driver handle the files?"""
    wanted = ("vol.file_create", "vol.file_open", "vol.dataset_read", "vol.dataset_write",
              "vfd.open")  # fmt: skip
    missing = [f"no {name} was called" for name in wanted if not ours.calls[name]]
    if str(ours.output) not in ours.created:
        missing.append(f"{ours.output.name} was not created through Headrace")
    vol, vfd = (
        sum(count for name, count in ours.calls.items() if name.startswith(seat))
        for seat in ("vol.", "vfd.")
    )
    claim = f"Headrace handled the files: {vol:,} calls as connector, {vfd:,} as file driver"
    return Check(claim, not missing, missing)


def compared(claim: str, first: Path, second: Path, *options: str) -> Check:
    """Compares two files object by object in a process of its own."""
    command = [sys.executable, str(COMPARE), *options, str(first), str(second)]
    result = json.loads(output_of(command, second.parent))
    return Check(f"{claim}, {result['objects']} objects", not result["differences"],
                 result["differences"])  # fmt: skip


def dumped(native: Run, ours: Run) -> Check:
    """Compares what another, older HDF5 finds in the two files, byte for byte.

    Not how long compressed chunks are and where: that is the codec's affair.
    """
    if shutil.which("h5dump") is None:
        return Check("h5dump is not installed, so its dumps were not compared", None)
    # Each in its own folder: the name is part of the dump.
    dumps = [output_of(["h5dump", each.output.name], each.output.parent) for each in (native, ours)]
    version = output_of(["h5dump", "--version"], ours.output.parent).decode().split()[-1]
    return Check(
        f"h5dump {version}: dumps of {len(dumps[0]):,} bytes as of the file natively written",
        dumps[0] == dumps[1],
        [] if dumps[0] == dumps[1] else ["the dumps differ"],
    )
