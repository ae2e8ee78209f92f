"""Eight bytes at a time, or short runs: permuted, strided, one member of a record; by turns."""

from __future__ import annotations

from ctypes import byref, c_uint64
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from headrace.bench.peers.workload import Clock

from .. import data, library

_NAMES = ("values", "others", "more")  # `datasets` of them
_RECORD = np.dtype([(name, "f8") for name in "abcdefghijklmnop"])
_MEMBER = "c"


def _extent(given: dict[str, Any]) -> int:
    """Elements of the dataset: there may be more than are written."""
    return int(given["extent"]) * int(given["stride"])


def _places(given: dict[str, Any]) -> list[int]:
    """Where the calls write, in their order."""
    if given["pattern"] == "permuted":
        return [int(place) for place in data.order(given["extent"])[: given["count"]]]
    return list(range(0, given["count"] * given["stride"], given["stride"]))


def _expected(given: dict[str, Any]) -> NDArray[Any]:
    values = data.values(given["count"] * given["run"])
    if given["pattern"] == "member":
        records = np.zeros(_extent(given), _RECORD)
        records[_MEMBER][_places(given)] = values
        return records
    whole = np.zeros(_extent(given))
    whole[np.add.outer(_places(given), np.arange(given["run"])).ravel()] = values
    return whole


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    """`single` makes one call for all places, `chunked` one chunk too large for HDF5's cache."""
    values = data.values(given["count"] * given["run"])
    kind = _RECORD if given["pattern"] == "member" else np.dtype("f8")
    with clock("create"):
        file = h5py.File(path, "w")
        chunks = (_extent(given),) if given["layout"] == "chunked" else None
        datasets = [
            file.create_dataset(name, (_extent(given),), kind, chunks=chunks)
            for name in _NAMES[: given["datasets"]]
        ]
    memory = _memory_type(given)
    if given["single"]:
        (dataset,) = datasets
        space = dataset.id.get_space()
        space.select_hyperslab((0,), (given["count"],), (given["stride"],))
        flat = h5py.h5s.create_simple((given["count"],))
        with clock("write"):
            dataset.id.write(flat, space, values, memory)
    else:
        _write_each(datasets, memory, given, values, clock)
    with clock("close"):
        file.close()


def _memory_type(given: dict[str, Any]) -> h5py.h5t.TypeID:
    if given["pattern"] == "member":
        return h5py.h5t.py_create(np.dtype([(_MEMBER, "f8")]))
    return h5py.h5t.NATIVE_DOUBLE


def _write_each(
    datasets: list[h5py.Dataset],
    memory: h5py.h5t.TypeID,
    given: dict[str, Any],
    values: NDArray[np.float64],
    clock: Clock,
) -> None:
    """A selection and a write for each; ctypes adds about a microsecond to either."""
    h5 = library.functions()
    run, places = given["run"], _places(given)
    part = library.scalar() if run == 1 else h5py.h5s.create_simple((run,))
    space = datasets[0].id.get_space()
    start, count = c_uint64(), c_uint64(run)
    select, write = h5.H5Sselect_hyperslab, h5.H5Dwrite
    at, size = byref(start), byref(count)
    all_ids = [(each.id.id, memory.id, part.id, space.id, library.DEFAULT) for each in datasets]
    address = values.ctypes.data
    with clock("write"):
        for place in places:
            start.value = place
            select(space.id, library.SELECT_SET, at, None, size, None)
            for ids in all_ids:
                write(*ids, address)
            address += 8 * run


def check(path: Path, given: dict[str, Any]) -> str:
    with h5py.File(path, "r") as file:
        expected = _expected(given)
        faults = (data.first_difference(np.asarray(each[...]), expected) for each in file.values())
        return next(filter(None, faults), "")
