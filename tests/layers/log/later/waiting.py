"""A file whose log outlives the program: canonicalise=later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    from harness.layer import Layer
    from harness.program import Program

LATER = "canonicalise=later;"
CHUNKS = [None, (10, 100)]
Chunks = tuple[int, int] | None


def made(chunks: Chunks = None) -> tuple[h5py.File, h5py.Dataset, h5py.Dataset]:
    """By a program: file x.h5, its dataset d, and g/e."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 1000), "i4", chunks=chunks, fillvalue=-1)
    e = f.create_group("g").create_dataset("e", (40, 40), "f8")
    for k in range(0, 1000, 2):
        d[:, k] = np.arange(100) + k
    e[::3, ::2] = 2.5
    d[5:9, ::3] = 7
    return f, d, e


def right() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """What is in d and g/e then."""
    d = np.full((100, 1000), -1)
    d[:, ::2] = np.arange(100)[:, None] + np.arange(0, 1000, 2)
    d[5:9, ::3] = 7
    e = np.zeros((40, 40))
    e[::3, ::2] = 2.5
    return d, e


def assert_right(f: h5py.File) -> None:
    d, e = right()
    assert (f["d"][...] == d).all()
    assert (f["g/e"][...] == e).all()


def read_all(mode: str) -> None:
    f = h5py.File("x.h5", mode)
    assert_right(f)
    f.close()


def write_and_close(chunks: Chunks = None) -> None:
    f, _d, _e = made(chunks)
    f.close()


def write(layer: Layer, program: Program = write_and_close) -> None:
    """By a program that ends with all in order, as far as it goes."""
    layer.python(program, LATER)
    assert layer.counted("writes_logged") >= 502


def logs(layer: Layer, name: str = "x.h5") -> list[Path]:
    return list(layer.folder.glob(f"{name}.headrace/*"))
