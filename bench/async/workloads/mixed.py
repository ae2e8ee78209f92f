"""Scattered writes to one dataset, and what has nothing to do with them between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Clock

from .. import data

_BLOCK = 512  # elements that are written of another dataset
_READ = 16


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    """A column after the other; `between`: what is done after each of them."""
    count, rows = given["count"], given["rows"]
    column, block = data.values(rows), data.values(_BLOCK)
    with clock("create"):
        file = h5py.File(path, "w")
        scattered = file.create_dataset("scattered", (rows, count), "f8")
        other = file.create_dataset("other", (count * _BLOCK,), "f8")
        read = file.create_dataset("read", data=data.values(count * _READ))
        second = h5py.File(path.with_suffix(".second"), "w")
        rest = second.create_dataset("rest", (0,), "f8", maxshape=(None,), chunks=(_BLOCK,))
    between = given["between"]
    for i in range(count):
        with clock("write"):
            scattered[:, i] = column + i
            if between == "other-written":
                other[i * _BLOCK : (i + 1) * _BLOCK] = block
            elif between == "other-read":
                read[i * _READ : (i + 1) * _READ]
            elif between == "itself-read":
                scattered[5, i // 2 : i // 2 + _READ]
            elif between == "second-file":
                rest.resize(((i + 1) * _BLOCK,))
                rest[-_BLOCK:] = block
                second.flush()
            elif between == "links":
                second.create_group("new")
                second.move("new", "old")
                del second["old"]
    with clock("close"):
        file.close()
        second.close()
    path.with_suffix(".second").unlink()


def check(path: Path, given: dict[str, Any]) -> str:
    column = data.values(given["rows"])
    expected = column[:, None] + np.arange(given["count"])
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file["scattered"][...]), expected)
