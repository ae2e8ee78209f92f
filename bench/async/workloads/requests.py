"""Small asynchronous reads or writes of blocks that lie side by side, in any order, one wait."""

from __future__ import annotations

from ctypes import byref, c_uint64
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from headrace.bench.peers.workload import Clock

from .. import data, library

_NAME = "values"
_BLOCK = 64  # elements


def _expected(given: dict[str, Any]) -> NDArray[np.float64]:
    return data.values(given["count"] * _BLOCK)


def prepare(path: Path, given: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        file[_NAME] = _expected(given)


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    expected = _expected(given)
    if given["writes"]:
        with clock("create"):
            file = h5py.File(path, "w")
            dataset = file.create_dataset(_NAME, expected.shape, "f8")
        _call_each("H5Dwrite_async", dataset, expected, clock, ("write", "flush"))
        with clock("close"):
            file.close()
        return
    with clock("open"):
        file = h5py.File(path, "r")
        dataset = file[_NAME]
    found = np.empty_like(expected)
    _call_each("H5Dread_async", dataset, found, clock, ("read", "read"))
    if fault := data.first_difference(found, expected):
        raise ValueError(fault)
    with clock("close_read"):
        file.close()


def _call_each(
    name: str, dataset: h5py.Dataset, buffer: NDArray[np.float64], clock: Clock,
    phases: tuple[str, str],
) -> None:  # fmt: skip
    h5 = library.functions()
    memory, space = h5py.h5s.create_simple((_BLOCK,)), dataset.id.get_space()
    start, count = c_uint64(), c_uint64(_BLOCK)
    at, size = byref(start), byref(count)
    ids = (dataset.id.id, library.double(), memory.id, space.id, library.DEFAULT)
    call, address = getattr(h5, name), buffer.ctypes.data
    events = h5.H5EScreate()
    with clock(phases[0]):
        for place in data.order(buffer.size // _BLOCK):
            start.value = int(place) * _BLOCK
            h5.H5Sselect_hyperslab(space.id, library.SELECT_SET, at, None, size, None)
            call(b"", b"", 0, *ids, address + start.value * buffer.itemsize, events)
    with clock(phases[1]):
        library.wait(h5, events)
    h5.H5ESclose(events)


def check(path: Path, given: dict[str, Any]) -> str:
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file[_NAME][...]), _expected(given))
