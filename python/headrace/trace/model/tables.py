"""Calls and requests as Arrow's tables; docs/formats/trace.md says what their columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from headrace.trace.model.process import KINDS, MEMORY_TYPES, line_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.process import Process

_UNKNOWN: Final = 99
_BILLION: Final = 1e9


def calls(processes: Sequence[Process]) -> pa.Table:
    """A row for each call of HDF5's, and for each dataset of one."""
    return pa.concat_tables([_calls_of(n, each) for n, each in enumerate(processes)])


def requests(processes: Sequence[Process]) -> pa.Table:
    """A row for each piece of a file that was read or written."""
    return pa.concat_tables([_requests_of(n, each) for n, each in enumerate(processes)])


def words(ids: NDArray[np.int64], table: Mapping[int, str]) -> pa.Array:
    """The text of each id, as a dictionary; null where there is none."""
    known = list(dict.fromkeys(table.values()))  # once each: pandas takes no others
    places = {text: place for place, text in enumerate(known)}
    unique, inverse = np.unique(ids, return_inverse=True)
    found = (table.get(int(id_)) for id_ in unique)
    lookup = np.array([-1 if text is None else places[text] for text in found], np.int32)
    indices = lookup[inverse] if len(ids) else np.empty(0, np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=indices < 0), pa.array(known, pa.string())
    )


def _calls_of(number: int, process: Process) -> pa.Table:
    raw = process.calls
    file_of = {id_: each["file"] for id_, each in process.objects.items()}
    names = {id_: each["name"] for id_, each in process.files.items()}
    levels = process.level_of_files
    objects = raw["object"]
    plain = ("number", "parent", "thread", "operation", "object", "bytes", "file_shape",
             "file_start", "memory_shape", "memory_start", "type", "io_mode",
             "no_collective_cause", "event_set", "count")  # fmt: skip
    return pa.table(
        {
            "process": pa.array(np.full(len(objects), number, np.int32)),
            "call": words(raw["callback"], dict(enumerate(process.callbacks))),
            "file": words(objects, {i: names.get(f, "") for i, f in file_of.items()}),
            "path": words(objects, {i: each["path"] for i, each in process.objects.items()}),
            "attribute": words(raw["name"], {i: each["is"] for i, each in process.names.items()}),
            "kind": words(objects, {i: each["kind"] for i, each in process.objects.items()}),
            "level": pa.array(_mapped(objects, {i: levels.get(f, 0) for i, f in file_of.items()})),
            "begin": pa.array(raw["begin"]),
            "seconds": pa.array(raw["duration"] / _BILLION),
            "failed": pa.array(raw["failed"] != 0),
            "collective": pa.array(raw["collective"] != 0),
            "line": words(raw["line"], {i: line_of(each) for i, each in process.lines.items()}),
            **{name: pa.array(raw[name]) for name in plain},
        }
    )


def _requests_of(number: int, process: Process) -> pa.Table:
    raw = process.requests
    names = {id_: each["name"] for id_, each in process.storages.items()}
    levels = {id_: int(each["level"]) for id_, each in process.storages.items()}
    types = dict(enumerate(MEMORY_TYPES)) | {_UNKNOWN: "unknown"}
    plain = ("call", "offset", "length", "span", "thread", "count")
    return pa.table(
        {
            "process": pa.array(np.full(len(raw["file"]), number, np.int32)),
            "request": words(raw["kind"], dict(enumerate(KINDS))),
            "file": words(raw["file"], names),
            "level": pa.array(_mapped(raw["file"], levels)),
            "type": words(raw["type"], types),
            "begin": pa.array(raw["begin"]),
            "seconds": pa.array(raw["duration"] / _BILLION),
            "failed": pa.array(raw["failed"] != 0),
            "collective": pa.array(raw["collective"] != 0),
            **{name: pa.array(raw[name]) for name in plain},
        }
    )


def _mapped(ids: NDArray[np.int64], table: Mapping[int, int]) -> NDArray[np.int64]:
    unique, inverse = np.unique(ids, return_inverse=True)
    values = np.array([table.get(int(id_), 0) for id_ in unique], np.int64)
    return values[inverse] if len(ids) else np.empty(0, np.int64)
