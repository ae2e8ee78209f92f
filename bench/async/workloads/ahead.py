"""A dataset is read step by step, with a phase of computing after each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data
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
    for step in _steps(given):
        with clock("read"):
            found = dataset[step]
        if not np.array_equal(found, expected[step]):
            raise ValueError(f"step {step}: {data.first_difference(found, expected[step])}")
        with clock("compute_read"):
            compute(given)
    with clock("close_read"):
        file.close()


def check(path: Path, given: dict[str, Any]) -> str:
    expected = data.field(given["bytes"] * given["steps"]).reshape(given["steps"], -1)
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file[_NAME][...]), expected)
