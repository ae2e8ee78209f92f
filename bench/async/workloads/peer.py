"""The same field by libraries that are not HDF5, as Zarr 3 in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data
from .field import storage


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    store = _STORES[given["peer"]](path, given)
    expected = data.field(given["bytes"])
    if given["side"] == "write":
        with clock("create"):
            store.create(expected.shape)
        with clock("write"):
            store.write(expected)
        return
    with clock("open"):
        store.open()
    with clock("read"):
        found = store.read()
    if fault := data.first_difference(found, expected):
        raise ValueError(fault)


def prepare(path: Path, given: dict[str, Any]) -> None:
    run(path, given | {"side": "write"}, Clock())


def check(path: Path, given: dict[str, Any]) -> str:
    store = _STORES[given["peer"]](path, given)
    store.open()
    return data.first_difference(store.read(), data.field(given["bytes"]))


class _Store:
    """`codecs` as the metadata of Zarr 3 name them."""

    def __init__(self, path: Path, given: dict[str, Any]) -> None:
        self.path = path
        self.chunks = storage(given | {"filter": "gzip-1", "shuffle": False})["chunks"]
        name, _, level = str(given["filter"]).partition("-")
        self.codec: dict[str, Any] = {"name": "gzip", "configuration": {"level": int(level)}}
        if name == "blosc":
            mode = "shuffle" if given["shuffle"] else "noshuffle"
            settings = {"cname": "zstd", "clevel": int(level), "shuffle": mode}
            self.codec = {"name": "blosc", "configuration": settings | {"typesize": 4}}
        self.array: Any = None


class _Zarr(_Store):
    def create(self, shape: tuple[int, ...]) -> None:
        import zarr  # noqa: PLC0415, takes a second and is not timed elsewhere

        self.array = zarr.create_array(
            store=str(self.path),
            shape=shape,
            chunks=self.chunks,
            dtype="f4",
            compressors=self.codec,
            zarr_format=3,
        )

    def write(self, whole: data.Floats) -> None:
        self.array[...] = whole

    def open(self) -> None:
        import zarr  # noqa: PLC0415

        self.array = zarr.open_array(store=str(self.path), mode="r")

    def read(self) -> Any:
        return self.array[...]


class _TensorStore(_Store):
    def _spec(self) -> dict[str, Any]:
        kvstore = {"driver": "file", "path": f"{self.path}/", "file_io_sync": False}
        return {"driver": "zarr3", "kvstore": kvstore}

    def create(self, shape: tuple[int, ...]) -> None:
        import tensorstore  # noqa: PLC0415

        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if self.codec["name"] == "blosc":
            self.codec["configuration"]["blocksize"] = 0
        grid = {"chunk_shape": list(self.chunks)}
        metadata = {
            "shape": list(shape),
            "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": grid},
            "codecs": [*codecs, self.codec],
        }
        self.array = tensorstore.open(self._spec() | {"metadata": metadata}, create=True).result()

    def write(self, whole: data.Floats) -> None:
        self.array.write(whole).result()

    def open(self) -> None:
        import tensorstore  # noqa: PLC0415

        self.array = tensorstore.open(self._spec(), read=True).result()

    def read(self) -> Any:
        return np.asarray(self.array.read().result())


_STORES: dict[str, Any] = {"zarr-python": _Zarr, "tensorstore": _TensorStore}
