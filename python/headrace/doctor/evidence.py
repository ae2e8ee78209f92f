"""What was seen of a program: the lines that the probe and the plug-ins wrote."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headrace.doctor.copies import Copy

_T = TypeVar("_T")


@dataclass(slots=True)
class Process:
    """A process of the program. `how` is None for one that never came to its end, as far as seen.

    `objects` names what was loaded, where no libhdf5 was among it; `environment` holds the
    variables that HDF5 reads as they were at the end, None for one that was not set.
    """

    pid: int
    exe: str
    how: str | None = None
    signal: int = 0
    copies: list[Copy] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    environment: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Load:
    """A class of ours that a libhdf5 loaded."""

    seat: str
    name: str
    pid: int
    hdf5: str
    version: str
    parallel: bool | None = None
    threadsafe: bool | None = None


@dataclass(frozen=True, slots=True)
class FileCall:
    """A file that was opened or created through a class of ours."""

    seat: str
    name: str
    pid: int
    call: str
    file: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A libhdf5, or a program that contains one, that our plug-ins cannot work in."""

    hdf5: str
    version: str
    why: str


@dataclass(slots=True)
class Evidence:
    """All of it.

    `status` is that of subprocess, negative for a signal; `watched` says that the probe was there
    to be loaded; `summary` holds the lines for `doctor.summary`.
    """

    status: int | None = None
    watched: bool = False
    output: str = ""
    errors: str = ""
    processes: list[Process] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    files: list[FileCall] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    summary: list[dict[str, Any]] = field(default_factory=list)

    def copies(self) -> list[Copy]:
        """Each copy once, with whatever any process or plug-in could tell about it."""
        found: dict[str, Copy] = {}
        for copy in (copy for process in self.processes for copy in process.copies):
            _merge(found, copy)
        for load in self.loads:
            # A plug-in is loaded in the course of initialisation.
            seen = Copy(load.hdf5, load.version, True, load.parallel, load.threadsafe)
            _merge(found, seen)
        return list(found.values())

    def holders(self, copy: Copy) -> list[Process]:
        """The processes that had this copy loaded when they ended."""
        return [
            process
            for process in self.processes
            if any(Path(each.path).resolve() == Path(copy.path) for each in process.copies)
        ]

    def loaders(self, copy: Copy) -> str:
        """The names of the programs that had this copy loaded."""
        names = {Path(process.exe).name: None for process in self.holders(copy)}
        return ", ".join(names) or "the program"


def _merge(found: dict[str, Copy], new: Copy) -> None:
    key = str(Path(new.path).resolve())
    old = found.get(key, new)
    found[key] = Copy(
        key,
        old.version or new.version,
        _either(old.initialised, new.initialised),
        _either(old.parallel, new.parallel),
        _either(old.threadsafe, new.threadsafe),
    )


def _either(one: bool | None, other: bool | None) -> bool | None:
    if one is None or other is None:
        return other if one is None else one
    return one or other


def read_report(evidence: Evidence, file: Path) -> None:
    """Adds what the plug-ins wrote to HEADRACE_REPORT.

    Events of newer plug-ins are left out, and so are lines cut short by a full disk.
    """
    for line in _lines(file):
        seat, name, pid = _text(line, "seat"), _text(line, "name"), _number(line, "pid")
        match line.get("event"):
            case "load":
                hdf5, version = _text(line, "hdf5"), _text(line, "version")
                parallel, threadsafe = _flag(line, "parallel"), _flag(line, "threadsafe")
                evidence.loads.append(Load(seat, name, pid, hdf5, version, parallel, threadsafe))
            case "file":
                call, path = _text(line, "call"), _text(line, "file")
                ok = _flag(line, "ok") is True
                evidence.files.append(FileCall(seat, name, pid, call, path, ok))
            case "refused":
                hdf5, version = _text(line, "hdf5"), _text(line, "version")
                evidence.refusals.append(Refusal(hdf5, version, _text(line, "why")))
            case "counts":
                counts = _list(list(_dict(line, "calls").values()), int)
                evidence.calls[name] = evidence.calls.get(name, 0) + sum(counts)


def read_probe(evidence: Evidence, file: Path) -> None:
    """Adds what the preloaded probe wrote. A process that execs starts again under the same pid."""
    processes: dict[int, Process] = {}
    for line in _lines(file):
        pid, exe = _number(line, "pid"), _text(line, "exe")
        match line.get("event"):
            case "start":
                processes[pid] = Process(pid, exe)
            case "end":
                process = processes.setdefault(pid, Process(pid, exe))
                process.how = _text(line, "how")
                process.signal = _number(line, "signal")
                process.copies = [_copy(copy) for copy in _list(line.get("copies"), dict)]
                process.objects = list(filter(_can_be_a_name, _list(line.get("objects"), str)))
                process.environment = {
                    name: text if isinstance(text, str) else None
                    for name, text in _dict(line, "environment").items()
                }
    evidence.processes.extend(processes.values())


def _copy(told: dict[str, Any]) -> Copy:
    flags = (_flag(told, key) for key in ("initialised", "parallel", "threadsafe"))
    return Copy(_text(told, "path"), _text(told, "version") or None, *flags)


def _text(line: dict[str, Any], key: str) -> str:
    value = line.get(key)
    return value if isinstance(value, str) and _can_be_a_name(value) else ""


def _can_be_a_name(text: str) -> bool:
    """Whether the system would take this as the name of a file."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _number(line: dict[str, Any], key: str) -> int:
    value = line.get(key)
    return value if isinstance(value, int) else 0


def _flag(line: dict[str, Any], key: str) -> bool | None:
    value = line.get(key)
    return value if isinstance(value, bool) else None


def _dict(line: dict[str, Any], key: str) -> dict[str, Any]:
    value = line.get(key)
    return value if isinstance(value, dict) else {}


def _list(value: object, kind: type[_T]) -> list[_T]:
    return [each for each in value if isinstance(each, kind)] if isinstance(value, list) else []


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
