"""A dataset is read step by step, with a phase of computing after each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from headrace.bench.peers.workload import Clock

from .. import data, library
from .phases import compute

_NAME = "steps"


def _steps(given: dict[str, Any]) -> list[int]:
    """The order of reading: forward, or none."""
    if given["order"] == "sequential":
        return list(range(given["steps"]))
    return [int(step) for step in np.random.default_rng(13).permutation(given["steps"])]


def prepare(path: Path, given: dict[str, Any]) -> None:
    rows = data.field(given["bytes"] * given["steps"]).reshape(given["steps"], -1)
    coded = {"chunks": (1, rows.shape[1]), "compression": "gzip"} if given["chunked"] else {}
    with h5py.File(path, "w") as file:
        file.create_dataset(_NAME, data=rows, **coded)


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    expected = data.field(given["bytes"] * given["steps"]).reshape(given["steps"], -1)
    with clock("open"):
        file = h5py.File(path, "r")
        dataset = file[_NAME]
    read = _lent(dataset, _steps(given)) if given["call"] == "async" else dataset.__getitem__
    for step in _steps(given):
        with clock("read"):
            found = read(step)
        if not np.array_equal(found, expected[step]):
            raise ValueError(f"step {step}: {data.first_difference(found, expected[step])}")
        with clock("compute_read"):
            compute(given)
    with clock("close_read"):
        file.close()


def _lent(dataset: h5py.Dataset, steps: list[int]) -> Callable[[int], NDArray[np.float32]]:
    """Reads by H5Dread_async: each call waits for its step and begins to read the next one."""
    h5 = library.functions()
    size = dataset.shape[1]
    memory, space = h5py.h5s.create_simple((size,)), dataset.id.get_space()
    following = dict(zip(steps, [*steps[1:], None], strict=True))
    events = h5.H5EScreate()

    def begin(step: int) -> NDArray[np.float32]:
        buffer = np.empty(size, np.float32)
        space.select_hyperslab((step, 0), (1, size))
        kind = h5py.h5t.NATIVE_FLOAT.id
        ids = (dataset.id.id, kind, memory.id, space.id, library.DEFAULT)
        h5.H5Dread_async(b"", b"", 0, *ids, buffer.ctypes.data, events)
        return buffer

    under_way = {steps[0]: begin(steps[0])}

    def read(step: int) -> NDArray[np.float32]:
        library.wait(h5, events)
        following_step = following[step]
        if following_step is None:
            h5.H5ESclose(events)
        else:
            under_way[following_step] = begin(following_step)
        return under_way.pop(step)

    return read


def check(path: Path, given: dict[str, Any]) -> str:
    expected = data.field(given["bytes"] * given["steps"]).reshape(given["steps"], -1)
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file[_NAME][...]), expected)
