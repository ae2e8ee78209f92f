"""A field of float32 in compressed chunks, written as one call and read as one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data

_NAME = "field"


def storage(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of create_dataset: `chunk` bytes in a square, and `filter` such as gzip-4."""
    side = math.isqrt(given["chunk"] // 4)
    rows = given["bytes"] // (4 * data.WIDTH)
    chunks = (min(side, rows), min(side, data.WIDTH))
    name, _, level = str(given["filter"]).partition("-")
    shuffle = bool(given["shuffle"])
    if name == "gzip":
        coded = {"compression": "gzip", "compression_opts": int(level), "shuffle": shuffle}
        return {"chunks": chunks, **coded}
    import hdf5plugin  # noqa: PLC0415, only these need it

    if name == "zstd":
        return {"chunks": chunks, "shuffle": shuffle, **hdf5plugin.Zstd(clevel=int(level))}
    assert name == "blosc", name
    mode = hdf5plugin.Blosc.SHUFFLE if shuffle else hdf5plugin.Blosc.NOSHUFFLE
    return {"chunks": chunks, **hdf5plugin.Blosc(cname="zstd", clevel=int(level), shuffle=mode)}


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    options = storage(given)
    expected = data.field(given["bytes"])
    if given["side"] == "read":
        found = _read(path, clock)
        if fault := data.first_difference(found, expected):
            raise ValueError(fault)
        return
    with clock("create"):
        file = h5py.File(path, "w")
    with clock("write"):
        file.create_dataset(_NAME, data=expected, **options)
    with clock("close"):
        file.close()


def _read(path: Path, clock: Clock) -> Any:
    with clock("open"):
        file = h5py.File(path, "r")
        dataset = file[_NAME]
    with clock("read"):
        found = dataset[...]
    with clock("close_read"):
        file.close()
    return found


def prepare(path: Path, given: dict[str, Any]) -> None:
    run(path, given | {"side": "write"}, Clock())


def check(path: Path, given: dict[str, Any]) -> str:
    asked = storage(given)
    with h5py.File(path, "r") as file:
        dataset = file[_NAME]
        if dataset.chunks != asked["chunks"] or not dataset.id.get_create_plist().get_nfilters():
            return f"{_NAME} is not in the compressed chunks that were asked for"
        return data.first_difference(np.asarray(dataset[...]), data.field(given["bytes"]))
