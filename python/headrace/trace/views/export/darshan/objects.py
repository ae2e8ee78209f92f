"""Darshan's modules H5F and H5D: the calls that the program has made of files and datasets."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.views.export.darshan.counters import (
    MOST_COMMON,
    Transfers,
    busy,
    grouped,
    of_transfers,
    span,
)
from headrace.trace.views.export.darshan.log import packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.model.process import Process
    from headrace.trace.views.export.darshan.counters import Rows, Values
    from headrace.trace.views.export.darshan.log import Contents

_FLUSH: Final = {"file": 0, "dataset": 1}  # operations of file_specific and dataset_specific
_DIMS: Final = 5  # that Darshan keeps, the last first


def add_files(contents: Contents, process: Process, rank: int, shift: int) -> None:
    """Adds a record of each file that the program has opened."""
    parallel = {each["name"] for each in process.files.values() if each["parallel"]}
    files = _uppermost(process, "file")
    for (name, _), rows in grouped(process.calls, files, "object", shift):
        values = _kept(process, rows, "file", "file_open") | {"USE_MPIIO": name in parallel}
        record = packed("H5F", contents.id_of(name), rank, values)
        contents.records["H5F"].append(record)


def add_datasets(contents: Contents, process: Process, rank: int, shift: int) -> None:
    """Adds a record of each dataset that the program has used."""
    objects = _uppermost(process, "dataset")
    facts = {objects[i]: fact for i, fact in process.datasets.items() if i in objects}
    for (file, path), rows in grouped(process.calls, objects, "object", shift):
        moving = _is(process, rows, "dataset_read", "dataset_write")
        moves = {key: column[moving] for key, column in rows.items()}
        writes = _is(process, moves, "dataset_write")
        transfers = Transfers(writes, moves["begin"], moves["duration"], moves["bytes"])
        values = _kept(process, rows, "dataset", "dataset_open", "object_open")
        values |= of_transfers("H5D", transfers) | _selections(process, moves)
        values["USE_MPIIO_COLLECTIVE"] = bool(moves["collective"].any())
        if fact := facts.get((file, path)):
            chunk = fact.get("chunk", [])[::-1][:_DIMS]
            values |= {f"CHUNK_SIZE_D{i}": size for i, size in enumerate(chunk, 1)}
            values["DATATYPE_SIZE"] = fact["type"]["size"]
        id_ = contents.id_of(f"{file}:{path}")
        record = packed("H5D", id_, rank, values, contents.id_of(file))
        contents.records["H5D"].append(record)


def _is(process: Process, rows: Rows, *names: str) -> NDArray[np.bool_]:
    numbers = [i for i, name in enumerate(process.callbacks) if name in names]
    return np.isin(rows["callback"], numbers)


def _kept(process: Process, rows: Rows, kind: str, *openers: str) -> Values:
    """Of what opens, closes and flushes."""
    opens = _is(process, rows, f"{kind}_create", *openers)
    closes = _is(process, rows, f"{kind}_close")
    flushes = _is(process, rows, f"{kind}_specific") & (rows["operation"] == _FLUSH[kind])
    of_all = opens | closes | flushes
    return {
        "OPENS": int(np.count_nonzero(opens)),
        "FLUSHES": int(np.count_nonzero(flushes)),
        "F_META_TIME": busy(rows["begin"][of_all], rows["duration"][of_all]),
        **span("OPEN", rows["begin"][opens], rows["end"][opens]),
        **span("CLOSE", rows["begin"][closes], rows["end"][closes]),
    }


def _uppermost(process: Process, kind: str) -> dict[int, tuple[str, str]]:
    """File and path of each object of a kind that the program knows."""
    files = {i: each["name"] for i, each in process.files.items() if not each["level"]}
    return {
        i: (files[each["file"]], each["path"])
        for i, each in process.objects.items()
        if each["file"] in files and each["kind"] == kind
    }


def _selections(process: Process, moves: Rows) -> Values:
    values: Values = defaultdict(int)
    accesses: Counter[tuple[int, tuple[int, ...], tuple[int, ...]]] = Counter()
    pairs = np.stack([moves["file_shape"], moves["bytes"]], axis=1)
    for (id_, size), times in zip(
        *map(np.ndarray.tolist, np.unique(pairs, axis=0, return_counts=True)), strict=True
    ):
        shape = process.shapes.get(id_, {})
        kind = {"points": "POINT", "union": "IRREGULAR_HYPERSLAB"}.get(
            shape.get("kind", ""), "REGULAR_HYPERSLAB"
        )
        values[f"{kind}_SELECTS"] += times
        sides = zip(shape.get("count", []), shape.get("block", []), strict=False)
        lengths = tuple(count * block for count, block in sides)[::-1][:_DIMS]
        strides = tuple(shape.get("stride", []))[::-1][:_DIMS]
        accesses[size, lengths, strides] += times
        if "dims" in shape:
            values |= {
                "DATASPACE_NDIMS": len(shape["dims"]),
                "DATASPACE_NPOINTS": int(np.prod(shape["dims"], dtype=np.int64)),
            }
    for i, ((size, lengths, strides), times) in enumerate(accesses.most_common(MOST_COMMON), 1):
        values |= {f"ACCESS{i}_ACCESS": size, f"ACCESS{i}_COUNT": times}
        values |= {f"ACCESS{i}_LENGTH_D{d}": length for d, length in enumerate(lengths, 1)}
        values |= {f"ACCESS{i}_STRIDE_D{d}": stride for d, stride in enumerate(strides, 1)}
    return values
