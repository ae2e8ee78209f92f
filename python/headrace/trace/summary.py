"""Where a program's time in HDF5 went: a dozen lines for a terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.bench.units import count, seconds, size
from headrace.trace.reader import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.reader import Process, Trace

_DEAREST: Final = 5
_BILLION: Final = 1e9
_SMALL: Final = 16 << 10  # bytes a call
_MANY: Final = 100  # calls
_AMPLIFIED: Final = 2.0
_READS: Final = ("dataset_read", "attr_read")
_WRITES: Final = ("dataset_write", "attr_write")
_READ, _WRITE = 0, 1  # requests


@dataclass
class Use:
    """What was done with one object, by all processes: calls of the program, and what they became.

    Times are in seconds, and without those of calls that were made within others.
    """

    file: str = ""
    path: str = ""
    kind: str = ""
    calls: int = 0
    opened: int = 0
    seconds: float = 0.0
    read: int = 0  # bytes that the program has asked for
    written: int = 0
    stored_read: int = 0  # bytes that reached the storage within its calls
    stored_written: int = 0
    requests: int = 0
    lines: Counter[str] = field(default_factory=Counter)  # seconds by the line that has called


@dataclass
class Totals:
    """The same of a whole trace; `span`: from the first call to the end of the last."""

    processes: int = 0
    files: int = 0
    span: float = 0.0
    inside: float = 0.0  # seconds that the program was in HDF5, of all processes
    calls: int = 0
    read: int = 0
    written: int = 0
    requests: int = 0
    stored_read: int = 0
    stored_written: int = 0


def uses(trace: Trace) -> list[Use]:
    """Of each object by its file and path, the dearest first."""
    found: dict[tuple[str, str], Use] = defaultdict(Use)
    for process in trace.processes:
        _add(found, process)
    return sorted(found.values(), key=lambda each: -each.seconds)


def outermost(process: Process) -> NDArray[np.bool_]:
    """Which calls the program has made of the uppermost layer: not those of layers below it."""
    raw = process.calls
    lower = {
        id_
        for id_, each in process.objects.items()
        if process.level_of_files.get(each["file"], 0) > 0
    }
    return ~np.isin(raw["object"], np.array(sorted(lower), np.int64))


def own_times(process: Process, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Seconds of each of these calls, without those of the others made within them."""
    numbers, parents = process.calls["number"][chosen], _parents(process, chosen)
    times = process.calls["duration"][chosen] / _BILLION
    if not len(numbers):
        return times
    order = np.argsort(numbers, kind="stable")
    places = np.minimum(np.searchsorted(numbers[order], parents), len(numbers) - 1)
    has_parent = numbers[order][places] == parents
    within = np.zeros(len(numbers))
    np.add.at(within, order[places[has_parent]], times[has_parent])
    return np.maximum(times - within, 0)


def _parents(process: Process, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of each of these calls, the nearest of the chosen ones that it was made in, if any is."""
    raw = process.calls
    parents = raw["parent"][chosen]
    passed, first = np.unique(raw["number"][~chosen], return_index=True)
    above = raw["parent"][~chosen][first]
    while len(passed):
        places = np.minimum(np.searchsorted(passed, parents), len(passed) - 1)
        within = (passed[places] == parents) & (above[places] < parents)
        if not within.any():
            break
        parents = np.where(within, above[places], parents)
    return parents


def _add(found: dict[tuple[str, str], Use], process: Process) -> None:
    raw = process.calls
    chosen = outermost(process)
    objects = raw["object"][chosen]
    unique, inverse = np.unique(objects, return_inverse=True)
    width = len(unique)
    reads, writes, opens = (
        np.isin(raw["callback"][chosen], _numbers_of(process, names))
        for names in (_READS, _WRITES, ("dataset_open", "group_open", "attr_open", "object_open"))
    )
    moved = raw["bytes"][chosen]
    sums = {
        "calls": np.bincount(inverse, minlength=width),
        "opened": np.bincount(inverse[opens], minlength=width),
        "seconds": np.bincount(inverse, own_times(process, chosen), width),
        "read": np.bincount(inverse[reads], moved[reads], width),
        "written": np.bincount(inverse[writes], moved[writes], width),
        **_requests_of(process, unique),
    }
    lines = _lines_of(process, chosen)
    for i, id_ in enumerate(unique):
        about = process.objects.get(int(id_), {})
        file = process.files.get(about.get("file", 0), {}).get("name", "")
        use = found[file, about.get("path", "")]
        use.file, use.path, use.kind = file, about.get("path", ""), about.get("kind", "")
        for name, values in sums.items():
            value = values[i]
            setattr(use, name, getattr(use, name) + type(getattr(use, name))(value))
        for line, spent in lines[int(id_)].items():
            use.lines[line] += spent


def _lines_of(process: Process, chosen: NDArray[np.bool_]) -> dict[int, Counter[str]]:
    """Seconds by line, of each object."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    pairs = np.stack([process.calls["object"][chosen], process.calls["line"][chosen]], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    spent = np.bincount(inverse.reshape(-1), own_times(process, chosen), len(unique))
    for (object_, line), value in zip(unique.tolist(), spent.tolist(), strict=True):
        if line in process.lines:
            found[object_][line_of(process.lines[line])] += value
    return found


def _numbers_of(process: Process, names: tuple[str, ...]) -> list[int]:
    return [i for i, name in enumerate(process.callbacks) if name in names]


def _requests_of(process: Process, objects: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Sums over the requests that were made in calls on each of the objects, in any layer's."""
    raw = process.requests
    made_in = _outermost_object(process)
    numbers = np.fromiter(made_in, np.int64, len(made_in))
    owners = np.fromiter(made_in.values(), np.int64, len(made_in))
    order = np.argsort(numbers)
    numbers, owners = numbers[order], owners[order]
    levels = {id_: int(each["level"]) for id_, each in process.storages.items()}
    deepest = max(levels.values(), default=0)
    lowest = np.isin(raw["file"], [id_ for id_, level in levels.items() if level == deepest])
    at = np.minimum(np.searchsorted(numbers, raw["call"]), max(len(numbers) - 1, 0))
    known = (
        lowest & (numbers[at] == raw["call"]) if len(numbers) else np.zeros(len(raw["call"]), bool)
    )
    result = {}
    for name, kind in (("stored_read", _READ), ("stored_written", _WRITE), ("requests", None)):
        rows = known if kind is None else known & (raw["kind"] == kind)
        places = np.searchsorted(objects, owners[at[rows]]) if len(numbers) else at[:0]
        weights = np.ones(int(rows.sum())) if kind is None else raw["length"][rows]
        result[name] = np.bincount(places, weights, len(objects))
    return result


def _outermost_object(process: Process) -> dict[int, int]:
    """By the number of each call: the object of the outermost one that it was made in."""
    raw = process.calls
    chosen = outermost(process)
    owner = dict(zip(raw["number"][chosen].tolist(), raw["object"][chosen].tolist(), strict=True))
    parent = dict(zip(raw["number"].tolist(), raw["parent"].tolist(), strict=True))
    for number in parent:
        above = number
        while above not in owner and 0 < parent.get(above, 0) < above:
            above = parent[above]
        if above in owner:
            owner.setdefault(number, owner[above])
    return owner


def totals(trace: Trace) -> Totals:
    """Of all processes together."""
    sums = Totals(processes=len(trace.processes))
    begin, end = [], []
    names = set()
    for process in trace.processes:
        chosen = outermost(process)
        raw = process.calls
        if chosen.any():
            offset = process.about["time"] - process.about["monotonic"]
            begin.append(int(raw["begin"][chosen].min()) + offset)
            end.append(int((raw["begin"] + raw["duration"])[chosen].max()) + offset)
        names |= {each["name"] for each in process.files.values()}
        names |= {each["name"] for each in process.storages.values()}
        sums.calls += len(np.unique(raw["number"][chosen]))
        sums.inside += float(own_times(process, chosen).sum())
        _add_requests(sums, process)
    for use in uses(trace):
        sums.read += use.read
        sums.written += use.written
    sums.files = len(names)
    sums.span = (max(end) - min(begin)) / _BILLION if begin else 0
    return sums


def _add_requests(sums: Totals, process: Process) -> None:
    raw = process.requests
    levels = {id_: int(each["level"]) for id_, each in process.storages.items()}
    deepest = max(levels.values(), default=0)
    lowest = np.isin(raw["file"], [id_ for id_, level in levels.items() if level == deepest])
    sums.requests += int(lowest.sum())
    sums.stored_read += int(raw["length"][lowest & (raw["kind"] == _READ)].sum())
    sums.stored_written += int(raw["length"][lowest & (raw["kind"] == _WRITE)].sum())


def lines(trace: Trace) -> Iterator[str]:
    """What is printed when a program has ended."""
    from headrace.trace.advice import advise  # noqa: PLC0415, which is made of what is here

    sums = totals(trace)
    who = "" if sums.processes == 1 else f"{sums.processes} processes, "
    files = "1 file" if sums.files == 1 else f"{count(sums.files)} files"
    yield (
        f"{who}{files}: {seconds(sums.inside)} in {count(sums.calls)} calls of HDF5, "
        f"in the {seconds(sums.span)} from the first to the last"
    )
    yield (
        f"the program read {size(sums.read)} and wrote {size(sums.written)}; "
        f"{count(sums.requests)} requests read {size(sums.stored_read)} "
        f"and wrote {size(sums.stored_written)}"
    )
    several = len({each.file for each in uses(trace)}) > 1
    for use in uses(trace)[:_DEAREST]:
        if use.seconds > 0:
            yield f"{seconds(use.seconds):>8}  {_name(use, several=several)}: {reason(use)}"
    for advice in advise(trace):
        yield f"advice for {advice}"
    for process in trace.processes:
        if process.damage:
            yield f"{process.source}: {process.damage}; the rest of it is missing"


def _name(use: Use, *, several: bool) -> str:
    path = use.path or "calls on no object"
    return f"{use.file}:{path}" if several and use.file else path


def reason(use: Use) -> str:
    """What stands out of an object's use, and the line that spent most of its time."""
    told = [f"{count(use.calls)} calls"]
    if use.read:
        told.append(f"{size(use.read)} read")
    if use.written:
        told.append(f"{size(use.written)} written")
    if use.read + use.written and use.calls > _MANY and use.read + use.written < use.calls * _SMALL:
        told.append(f"only {size((use.read + use.written) / use.calls)} a call")
    if use.read and use.stored_read > _AMPLIFIED * use.read:
        told.append(f"{size(use.stored_read)} read from the storage for it")
    if use.written and use.stored_written > _AMPLIFIED * use.written:
        told.append(f"{size(use.stored_written)} written to the storage for it")
    if use.opened > _MANY:
        told.append(f"opened {count(use.opened)} times")
    if use.lines:
        told.append(f"by {_short(use.lines.most_common(1)[0][0])}")
    return ", ".join(told)


def _short(line: str) -> str:
    file, _, number = line.rpartition(":")
    return f"line {number} of {Path(file).name}"
