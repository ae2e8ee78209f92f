"""A dataset in chunks of 1 MiB, one chunk a call."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from .clock import Seconds, require, timed

CHUNK = 1 << 20


def chunk_of(number: int, base: Any) -> Any:
    """Bytes that gzip makes about two thirds of; those of each chunk are others."""
    return np.roll(base, number)


def base() -> Any:
    return np.random.default_rng(7).integers(0, 40, CHUNK, np.uint8)


def sync(path: Path) -> None:
    """As `durable=power` does by itself."""
    for each in (path, path.parent):
        file = os.open(each, os.O_RDONLY)
        os.fsync(file)
        os.close(file)


class Plain:
    """A plain file, as a dataset."""

    def __init__(self, path: Path, mode: str) -> None:
        self._file = io.FileIO(path, mode)

    def put(self, _number: int, data: Any) -> None:
        self._file.write(data)

    def take(self, _number: int, room: Any) -> None:
        self._file.readinto(room)

    def close(self) -> None:
        self._file.close()


class Chunked:
    """A dataset of that many chunks, or the one that is there."""

    def __init__(self, path: Path, mode: str, given: dict[str, Any]) -> None:
        self._file = h5py.File(path, mode)
        gzip = {"compression": "gzip", "compression_opts": 1} if given["gzip"] else {}
        size = given["count"] * CHUNK
        if mode == "w":
            self._file.create_dataset("x", (size,), np.uint8, chunks=(CHUNK,), **gzip)
        self._dataset = self._file["x"]

    def put(self, number: int, data: Any) -> None:
        self._dataset[number * CHUNK : (number + 1) * CHUNK] = data

    def take(self, number: int, room: Any) -> None:
        self._dataset.read_direct(room, np.s_[number * CHUNK : (number + 1) * CHUNK])

    def close(self) -> None:
        self._file.close()


def opened(path: Path, mode: str, given: dict[str, Any]) -> Plain | Chunked:
    return Plain(path, mode) if given["way"] == "plain" else Chunked(path, mode, given)


def write(path: Path, given: dict[str, Any]) -> Seconds:
    """The containers' way syncs by itself where it is to be durable."""
    first = base()
    synced = given["durable"] == "power" and given["way"] != "object"
    found: Seconds = {}
    with timed(found, "write"):
        target = opened(path, "w", given)
    for i in range(given["count"]):
        data = chunk_of(i, first)
        with timed(found, "write"):
            target.put(i, data)
    with timed(found, "write"):
        target.close()
        if synced:
            sync(path)
    return found


def read(path: Path, given: dict[str, Any]) -> Seconds:
    first, room = base(), np.zeros(CHUNK, np.uint8)
    found: Seconds = {}
    with timed(found, "read"):
        source = opened(path, "r", given)
    for i in range(given["count"]):
        with timed(found, "read"):
            source.take(i, room)
        require((room == chunk_of(i, first)).all(), f"chunk {i}")
    with timed(found, "read"):
        source.close()
    return found
