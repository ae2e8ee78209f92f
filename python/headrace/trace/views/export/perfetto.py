"""A trace for ui.perfetto.dev, chrome://tracing and Speedscope: Chrome's JSON of trace events.

Each thread of each process has two tracks, one of its calls and one of its requests. Times count
from the first event; `otherData` tells when that was.
"""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.model.process import KINDS, line_of
from headrace.trace.views.export.selections import selection
from headrace.trace.views.output import begin_and_end, private, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headrace.trace.model.process import Numbers, Process
    from headrace.trace.model.reader import Trace

Event = dict[str, Any]
_THOUSAND: Final = 1000  # nanoseconds in a microsecond


def write(trace: Trace, path: Path) -> None:
    """Raises FileError."""
    begin, _ = begin_and_end(trace)
    with replacing(path) as temporary, open(temporary, "w", opener=private) as out:
        out.write('{"displayTimeUnit": "ns", "otherData": ')
        json.dump({"begin, nanoseconds since 1970": str(begin)}, out)
        out.write(', "traceEvents": [')
        separator = "\n"
        for event in _events(trace, begin):
            out.write(separator + json.dumps(event))
            separator = ",\n"
        out.write("\n]}\n")


def _events(trace: Trace, begin: int) -> Iterator[Event]:
    tracks = 0  # some readers want their numbers to be unique among all processes
    for number, process in enumerate(trace.processes, 1):
        about = process.about
        rank = f"rank {process.rank} " if process.rank >= 0 else ""
        name = f"{rank}{about.get('host', '')} {about.get('pid', '')}"
        yield _metadata("process_name", number, 0, {"name": name})
        yield _metadata("process_sort_index", number, 0, {"sort_index": number})
        threads = np.union1d(process.calls["thread"], process.requests["thread"]).tolist()
        places = {}
        for thread in threads:
            places[thread] = tracks + 1, tracks + 2
            for track, of in zip(places[thread], ("", ": requests"), strict=True):
                yield _metadata("thread_name", number, track, {"name": f"thread {thread}{of}"})
                yield _metadata("thread_sort_index", number, track, {"sort_index": track})
            tracks += 2
        shift = process.clock_offset - begin
        for event in _calls(process):
            yield _placed(event, number, places[event["tid"]][0], shift)
        for event in _requests(process):
            yield _placed(event, number, places[event["tid"]][1], shift)


def _metadata(name: str, process: int, track: int, args: Event) -> Event:
    return {"ph": "M", "name": name, "pid": process, "tid": track, "args": args}


def _placed(event: Event, process: int, track: int, shift: int) -> Event:
    event |= {"ph": "X", "pid": process, "tid": track}
    event["ts"] = (event["ts"] + shift) / _THOUSAND
    event["dur"] /= _THOUSAND
    return event


def _rows(table: Numbers) -> Iterator[dict[str, int]]:
    """In the order in which they begin, and those that hold others before them."""
    order = np.lexsort((-table["duration"], table["begin"]))
    columns = [table[name][order].tolist() for name in table]
    return (dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True))


def _calls(process: Process) -> Iterator[Event]:
    names = dict(enumerate(process.callbacks))
    for _, together in groupby(_rows(process.calls), itemgetter("number", "begin")):
        first, *others = rows = list(together)
        args: Event = {"object": _name(process, first["object"])}
        if others:
            args["others"] = [_name(process, each["object"]) for each in others]
        if moved := sum(each["bytes"] for each in rows):
            args["bytes"] = moved
        if first["file_shape"]:
            args["selection"] = selection(
                process.shapes.get(first["file_shape"], {}), first["file_start"]
            )
        if first["line"] in process.lines:
            args["line"] = line_of(process.lines[first["line"]])
        args |= {name: True for name in ("failed", "collective") if first[name]}
        name = names.get(first["callback"], "?")
        yield {
            "name": name,
            "cat": "call",
            "tid": first["thread"],
            "ts": first["begin"],
            "dur": first["duration"],
            "args": args,
        }


def _requests(process: Process) -> Iterator[Event]:
    for row in _rows(process.requests):
        args = {
            "path": process.storages.get(row["file"], {}).get("name", ""),
            "offset": row["offset"],
            "bytes": row["length"],
        }
        args |= {name: True for name in ("failed", "collective") if row[name]}
        known = row["kind"] < len(KINDS)
        yield {
            "name": KINDS[row["kind"]] if known else "?",
            "cat": "request",
            "tid": row["thread"],
            "ts": row["begin"],
            "dur": row["duration"],
            "args": args,
        }


def _name(process: Process, object_: int) -> str:
    about = process.objects.get(object_)
    if about is None:
        return ""
    return f"{process.files.get(about['file'], {}).get('name', '')}:{about['path']}"
