"""A trace as a folder of Parquet files, for pandas, Polars, DuckDB and others.

`calls.parquet` and `requests.parquet` are the tables of `Trace`; `processes`, `files`, `objects`
and `shapes` are what their columns `process`, `file_shape`, `memory_shape` and `object` name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from headrace.errors import FileError
from headrace.trace.views.output import PRIVATE, replacing_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from headrace.trace.model.process import Process
    from headrace.trace.model.reader import Trace

Row = dict[str, Any]
_NUMBERS: Final = pa.list_(pa.int64())
_PROCESSES: Final = pa.schema(
    {"process": pa.int32(), "source": pa.string(), "host": pa.string(), "pid": pa.int64(),
     "parent": pa.int64(), "rank": pa.int32(), "command": pa.list_(pa.string()),
     "time": pa.int64(), "monotonic": pa.int64(), "hdf5": pa.string(), "library": pa.string(),
     "cores": pa.int64(), "forked_from": pa.string(), "damage": pa.string()}
)  # fmt: skip
_FILES: Final = pa.schema(
    {"process": pa.int32(), "id": pa.int64(), "name": pa.string(), "level": pa.int32(),
     "created": pa.bool_(), "parallel": pa.bool_(), "call": pa.int64()}
)  # fmt: skip
_OBJECTS: Final = pa.schema(
    {"process": pa.int32(), "object": pa.int64(), "file": pa.int64(), "kind": pa.string(),
     "path": pa.string(), "type_class": pa.string(), "type_size": pa.int64(), "dims": _NUMBERS,
     "layout": pa.string(), "chunk": _NUMBERS, "filters": _NUMBERS, "fills": pa.bool_()}
)  # fmt: skip
_SHAPES: Final = pa.schema(
    {"process": pa.int32(), "shape": pa.int64(), "kind": pa.string(), "dims": _NUMBERS,
     "elements": pa.int64(), "count": _NUMBERS, "stride": _NUMBERS, "block": _NUMBERS}
)  # fmt: skip


def write(trace: Trace, path: Path) -> None:
    """Replaces a folder of such files, and nothing else; raises FileError."""
    tables = {
        "calls": trace.calls,
        "requests": trace.requests,
        "processes": _table(trace, _processes, _PROCESSES),
        "files": _table(trace, _files, _FILES),
        "objects": _table(trace, _objects, _OBJECTS),
        "shapes": _table(trace, _shapes, _SHAPES),
    }
    try:
        with replacing_folder(path, {f"{name}.parquet" for name in tables}.__contains__) as folder:
            for name, table in tables.items():
                file = folder / f"{name}.parquet"
                file.touch(PRIVATE)
                pq.write_table(table, file, compression="zstd")
    except pa.ArrowException as error:
        raise FileError(f"{path}: {error}") from None


def _table(trace: Trace, rows: Callable[[Process], Iterator[Row]], schema: pa.Schema) -> pa.Table:
    found = [
        {"process": number, **row}
        for number, process in enumerate(trace.processes)
        for row in rows(process)
    ]
    return pa.Table.from_pylist(found, schema)


def _processes(process: Process) -> Iterator[Row]:
    about = {"source": process.source.name, "rank": process.rank, "damage": process.damage}
    yield process.about | about


def _files(process: Process) -> Iterator[Row]:
    for id_, each in process.files.items():
        yield {**each, "id": id_}


def _objects(process: Process) -> Iterator[Row]:
    for id_, each in process.objects.items():
        about = process.datasets.get(id_, {})
        type_ = about.get("type", {})
        yield {
            **about,
            **each,
            "type_class": type_.get("class"),
            "type_size": type_.get("size"),
            "filters": [each["id"] for each in about["filters"]] if "filters" in about else None,
        }


def _shapes(process: Process) -> Iterator[Row]:
    yield from process.shapes.values()
