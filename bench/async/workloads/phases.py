"""Large writes between phases of computing: how long is the program kept from computing?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data, library

_NAME = "steps"
_WORK = np.linspace(0, 1, 1 << 14)  # stays in a core's own cache


def compute(given: dict[str, Any]) -> None:
    """Waits as a program for an accelerator does, or keeps one core at work."""
    if given["compute"] == "sleep":
        time.sleep(given["seconds"])
        return
    for _ in range(given["loops"]):
        np.sin(_WORK)


def loops_for(seconds: float) -> int:
    """How many loops of work take so long on this machine; counted once for all stacks."""
    given = {"compute": "work", "loops": 100}
    times = []
    for _ in range(5):
        start = time.perf_counter()
        compute(given)
        times.append(time.perf_counter() - start)
    return max(1, round(seconds / min(times) * 100))


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    if given["call"] == "async":
        _run_async(path, given, clock)
        return
    base = data.steps(given["bytes"])
    buffer = base.copy()
    with clock("create"):
        file = h5py.File(path, "w")
        dataset = file.create_dataset(_NAME, (given["steps"], base.size), "f4")
    for step in range(given["steps"]):
        with clock("write"):
            dataset[step] = buffer
        with clock("compute"):
            np.add(base, np.float32(step + 1), out=buffer)  # the program uses its buffer again
            compute(given)
    with clock("close"):
        file.close()


def _run_async(path: Path, given: dict[str, Any], clock: Clock) -> None:
    """H5Dwrite_async with buffers that are lent until the end, and an event set."""
    h5 = library.functions()
    base = data.steps(given["bytes"])
    buffers = [base + np.float32(step) for step in range(given["steps"])]
    with clock("create"):
        file = h5py.File(path, "w")
        dataset = file.create_dataset(_NAME, (given["steps"], base.size), "f4")
        events = h5.H5EScreate()
    memory = h5py.h5s.create_simple((base.size,))
    spaces = [dataset.id.get_space() for _ in buffers]
    for step, space in enumerate(spaces):
        space.select_hyperslab((step, 0), (1, base.size))
    kind = h5py.h5t.NATIVE_FLOAT.id
    for buffer, space in zip(buffers, spaces, strict=True):
        ids = (dataset.id.id, kind, memory.id, space.id, library.DEFAULT)
        with clock("write"):
            h5.H5Dwrite_async(b"", b"", 0, *ids, buffer.ctypes.data, events)
        with clock("compute"):
            compute(given)
    with clock("flush"):  # so the tables call what waits for all to be written
        library.wait(h5, events)
    with clock("close"):
        h5.H5ESclose(events)
        file.close()


def check(path: Path, given: dict[str, Any]) -> str:
    base = data.steps(given["bytes"])
    with h5py.File(path, "r") as file:
        for step in range(given["steps"]):
            if fault := data.first_difference(file[_NAME][step], base + np.float32(step)):
                return f"step {step}: {fault}"
    return ""
