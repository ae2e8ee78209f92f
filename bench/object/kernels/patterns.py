"""What containers are not made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from .clock import Seconds, require, timed

_SMALL = 128  # elements, a dataset of 1 KiB
_ROUNDS = 20
_SIDE, _TILE = 2048, 256


def write(path: Path, given: dict[str, Any]) -> Seconds:
    found: Seconds = {}
    WRITE[given["pattern"]](path, given["count"], found)
    return found


def read(path: Path, given: dict[str, Any]) -> Seconds:
    found: Seconds = {}
    READ[given["pattern"]](path, given["count"], found)
    return found


def rewrite(path: Path, count: int, found: Seconds) -> None:
    """Small contiguous datasets, each written anew in each round, with a flush after it."""
    with timed(found, "write"), h5py.File(path, "w") as file:
        some = [file.create_dataset(f"{i:04}", (_SMALL,), np.float32) for i in range(count)]
        for number in range(_ROUNDS):
            data = np.full(_SMALL, number, np.float32)
            for each in some:
                each[...] = data
            file.flush()


def reread(path: Path, count: int, found: Seconds) -> None:
    with timed(found, "read"), h5py.File(path, "r") as file:
        some = [file[f"{i:04}"][...] for i in range(count)]
    require((np.stack(some) == _ROUNDS - 1).all(), "a dataset")


def _places(count: int) -> Any:
    return np.random.default_rng(3).integers(0, _size(count), count)


def _size(count: int) -> int:
    return count * 2048  # elements of 8 bytes


def scatter(path: Path, count: int, found: Seconds) -> None:
    """Single elements anywhere in a dataset that is there, in chunks of 1 MiB."""
    chunk = min(_size(count), 1 << 17)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros(_size(count)), chunks=(chunk,))
    places = _places(count).tolist()
    with timed(found, "write"), h5py.File(path, "r+") as file:
        dataset = file["x"]
        for i in places:
            dataset[i] = i


def gather(path: Path, count: int, found: Seconds) -> None:
    places = _places(count)
    wanted = np.zeros(_size(count))
    wanted[places] = places
    with timed(found, "read"), h5py.File(path, "r") as file:
        dataset = file["x"]
        some = [dataset[i] for i in places.tolist()]
    require((np.array(some) == wanted[places]).all(), "an element")
    with h5py.File(path, "r") as file:
        require((file["x"][...] == wanted).all(), "the dataset")


def many_files(path: Path, count: int, found: Seconds) -> None:
    """Each with one small dataset."""
    path.mkdir()
    data = np.arange(_SMALL)
    with timed(found, "write"):
        for i in range(count):
            with h5py.File(path / f"{i:05}.h5", "w") as file:
                file["x"] = data


def open_files(path: Path, count: int, found: Seconds) -> None:
    some = []
    with timed(found, "read"):
        for i in range(count):
            with h5py.File(path / f"{i:05}.h5", "r") as file:
                some.append(file["x"][...])
    require((np.stack(some) == np.arange(_SMALL)).all(), "a file")


def alternate(path: Path, count: int, found: Seconds) -> None:
    """Rows are written and columns read in turns, of one dataset of tiles."""
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros((_SIDE, _SIDE)), chunks=(_TILE, _TILE))
    columns = []
    with timed(found, "write"), h5py.File(path, "r+") as file:
        dataset = file["x"]
        for i in range(count):
            dataset[i] = i + 1
            columns.append(dataset[:, i])
    for i, column in enumerate(columns):
        wanted = np.where(np.arange(_SIDE) <= i, np.arange(_SIDE) + 1, 0)
        require((column == wanted).all(), f"column {i}")


def columns(path: Path, count: int, found: Seconds) -> None:
    with timed(found, "read"), h5py.File(path, "r") as file:
        some = [file["x"][:, i] for i in range(count)]
    rows = np.arange(_SIDE)
    require((np.stack(some) == np.where(rows < count, rows + 1, 0)).all(), "a column")


def singles(path: Path, count: int, found: Seconds) -> None:
    """A contiguous dataset, and one in chunks."""
    with timed(found, "write"), h5py.File(path, "w") as file:
        for name, how in (("contiguous", {}), ("chunked", {"chunks": (1024,)})):
            file.create_dataset(name, data=np.arange(_size(count) // 16), **how)


def single_reads(path: Path, count: int, found: Seconds) -> None:
    """Elements, one a call."""
    places = (_places(count) // 16).tolist()
    some: dict[str, list[Any]] = {}
    with timed(found, "read"), h5py.File(path, "r") as file:
        for name in ("contiguous", "chunked"):
            dataset = file[name]
            some[name] = [dataset[i] for i in places]
    require(all(each == places for each in some.values()), "an element")


WRITE = {"rewrite": rewrite, "scatter": scatter, "files": many_files, "native-files": many_files,
         "alternate": alternate, "single-reads": singles}  # fmt: skip
READ = {"rewrite": reread, "scatter": gather, "files": open_files, "native-files": open_files,
        "alternate": columns, "single-reads": single_reads}  # fmt: skip
