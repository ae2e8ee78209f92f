"""Rows of a dataset whose compressed chunks hold a thousand of them, read or written singly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data

_NAME = "rows"


def chosen(given: dict[str, Any]) -> list[int]:
    """The rows that are visited: across a border of chunks in order, or anywhere."""
    total, count = given["bytes"] // (4 * data.WIDTH), given["rows"]
    if given["order"] == "sequential":
        border = _chunk_rows(given)
        start = min(max(border - count // 2, 0), total - count)
        return list(range(start, start + count))
    return [int(row) for row in np.random.default_rng(11).integers(0, total, count)]


def _chunk_rows(given: dict[str, Any]) -> int:
    return int(given["chunk"]) // (4 * data.WIDTH)


def _create(file: h5py.File, given: dict[str, Any]) -> h5py.Dataset:
    shape = (given["bytes"] // (4 * data.WIDTH), data.WIDTH)
    chunks = (min(_chunk_rows(given), shape[0]), data.WIDTH)
    level = given["level"]
    return file.create_dataset(
        _NAME, shape, "f4", chunks=chunks, compression="gzip", compression_opts=level
    )


def prepare(path: Path, given: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        _create(file, given)[...] = data.field(given["bytes"])


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    expected = data.field(given["bytes"])
    if given["side"] == "write":
        _write(path, given, expected, clock)
        return
    with clock("open"):
        file = h5py.File(path, "r")
        dataset = file[_NAME]
    for row in chosen(given):
        with clock("read"):
            found = dataset[row]
        if not np.array_equal(found, expected[row]):
            raise ValueError(f"row {row}: {data.first_difference(found, expected[row])}")
    with clock("close_read"):
        file.close()


def _write(path: Path, given: dict[str, Any], expected: data.Floats, clock: Clock) -> None:
    with clock("create"):
        file = h5py.File(path, "w")
        dataset = _create(file, given)
    for row in chosen(given):
        with clock("write"):
            dataset[row] = expected[row]
    with clock("close"):
        file.close()


def check(path: Path, given: dict[str, Any]) -> str:
    expected = data.field(given["bytes"])
    if given["side"] == "write":
        written = np.zeros_like(expected)
        rows = chosen(given)
        written[rows] = expected[rows]
        expected = written
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file[_NAME][...]), expected)
