"""Traces as tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.errors import FileError
from headrace.trace.model.facts import NewerError, facts
from headrace.trace.model.places import resolve
from headrace.trace.model.process import Fact, Numbers, Process
from headrace.trace.model.seats import Seat
from headrace.trace.model.segments import CALLS, FACTS, REQUESTS, DamagedError, columns, segments

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    import pyarrow as pa
    from numpy.typing import NDArray

SUFFIX: Final = ".trace"
# Where a process keeps its facts of a kind.
_KEPT: Final = {
    kind: f"{kind}s"
    for kind in ("object", "file", "storage", "dataset", "shape", "type", "line", "name")
} | {"arguments": "arguments", "encoded": "encoded"}


@dataclass
class Trace:
    """All processes of a run. `unreadable`: which files are passed over, and why."""

    path: Path
    processes: list[Process]
    unreadable: list[str] = field(default_factory=list)

    @cached_property
    def seats(self) -> list[Seat]:
        """Each process as its user looks at it; what is asked of one is computed once."""
        return [Seat(each) for each in self.processes]

    @property
    def calls(self) -> pa.Table:
        """A row for each call of HDF5's, and for each dataset of one.

        `count` of them in traces of the level `profile`, whose times and bytes are sums.
        """
        return _tables().calls(self.processes)

    @property
    def requests(self) -> pa.Table:
        """A row for each piece of a file that was read or written, or for `count`, as above."""
        return _tables().requests(self.processes)


def read(path: str | os.PathLike[str]) -> Trace:
    """A trace's folder, or one file of it; raises FileError where nothing can be read.

    What a process had not written when it was killed is missing, and what follows a damaged part of
    a file: `Process.damage` tells. `Trace.unreadable` tells of files whose beginning is lost.
    """
    where = Path(path)
    files = sorted(where.glob("*" + SUFFIX)) if where.is_dir() else [where]
    if not files:
        raise FileError(f"{where}: there is no trace in this folder")
    errors: list[FileError] = []
    processes = list(_readable(files, errors))
    if not processes:
        raise errors[0]
    _inherit(processes)
    processes.sort(key=lambda each: (each.rank, each.about.get("time", 0)))
    return Trace(where, processes, list(map(str, errors)))


def _readable(files: list[Path], errors: list[FileError]) -> Iterator[Process]:
    """Without those that were killed before they told anything, or are damaged from the start."""
    for each in files:
        try:
            yield _process(each)
        except FileError as error:
            errors.append(error)


def _process(source: Path) -> Process:
    try:
        data = source.read_bytes()
    except OSError as error:
        raise FileError(f"{source}: {error.strerror}") from None
    process = Process(source)
    tables: dict[int, list[list[NDArray[np.int64]]]] = {CALLS: [], REQUESTS: []}
    names: dict[int, list[str]] = {}
    try:
        for segment in segments(data):
            if segment.table == FACTS:
                for kind, fact in facts(segment):
                    _take(process, kind, fact, names)
            elif segment.table in tables:
                width = len(names.get(segment.table, ()))
                tables[segment.table].append(columns(segment, width))
    except DamagedError as error:
        process.damage = str(error)
    except NewerError:
        raise FileError(f"{source}: a newer Headrace has written this trace") from None
    if not names or not process.about:
        reason = process.damage or "it tells of no process"
        raise FileError(f"{source}: this is no trace, or its beginning is lost: {reason}")
    resolve(process.lines)
    process.calls = _joined(names[CALLS], tables[CALLS])
    process.requests = _joined(names[REQUESTS], tables[REQUESTS])
    return process


def _take(process: Process, kind: str, fact: Fact, names: dict[int, list[str]]) -> None:
    if kind == "format":
        if names:
            raise DamagedError("it tells twice what is in its tables")
        names[CALLS], names[REQUESTS] = fact["calls"], fact["requests"]
        process.callbacks = fact["callbacks"]
    elif kind == "process":
        if process.about:
            raise DamagedError("it tells of two processes")
        process.about = fact["process"]
    elif kind in _KEPT:
        getattr(process, _KEPT[kind])[fact[kind]] = fact


def _inherit(processes: Sequence[Process]) -> None:
    """Forked processes know what their parents told before, who may be forked themselves."""
    by_name = {each.source.name: each for each in processes}
    done: set[str] = set()
    for each in processes:
        family: list[Process] = []
        nearest: Process | None = each
        while nearest is not None and nearest.source.name not in done:
            done.add(nearest.source.name)
            family.append(nearest)
            nearest = by_name.get(nearest.about.get("forked_from", ""))
        for child in reversed(family):
            parent = by_name.get(child.about.get("forked_from", ""))
            if parent is not None and parent is not child:
                _inherit_from(child, parent)


def _inherit_from(child: Process, parent: Process) -> None:
    last = child.about["known_ids"]
    for kept in _KEPT.values():
        if kept == "arguments":
            continue  # they are of calls, not of what has an id
        known = {id_: fact for id_, fact in getattr(parent, kept).items() if id_ <= last}
        setattr(child, kept, known | getattr(child, kept))


def _joined(names: list[str], parts: list[list[NDArray[np.int64]]]) -> Numbers:
    empty = np.empty(0, np.int64)
    return {
        name: np.concatenate([part[i] for part in parts]) if parts else empty
        for i, name in enumerate(names)
    }


def _tables() -> ModuleType:
    """What makes Arrow's tables, which all else of a trace does without."""
    try:
        from headrace.trace.model import tables  # noqa: PLC0415, an extra brings what it needs
    except ImportError as error:
        raise FileError(
            f"for tables, {error.name} is needed: pip install 'headrace[trace]'"
        ) from None
    return tables
