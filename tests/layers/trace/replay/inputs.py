"""A file that programs of these tests read, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np

from headrace.trace.replay.choices import Choices
from headrace.trace.replay.run import supplied

if TYPE_CHECKING:
    from pathlib import Path

    from harness.program import Program
    from layers.trace.replay.conftest import Recorded

    from headrace.trace.replay.choices import StandIn


def make_input(file: Path) -> None:
    random = np.random.default_rng(5)
    with h5py.File(file, "w") as made:
        made.attrs["title"] = "what was measured"
        group = made.create_group("run/first")
        group.attrs["numbers"] = np.arange(7)
        how = {"chunks": (8, 500), "compression": "gzip", "shuffle": True, "fillvalue": 3}
        packed = group.create_dataset("packed", (64, 500), "f8", maxshape=(None, 500), **how)
        packed[:] = random.random((64, 500)).round(2)
        packed.attrs["units"] = "m"
        for i in range(5):  # whose chunks differ in size
            values = random.integers(0, 1 << 2 * i + 1, 6000)
            group.create_dataset(f"more {i}", data=values, chunks=(1500,), compression="gzip")
        made["plain"] = random.random(20000)
        made["words"] = ["a few", "words", "of text"]
        made["never looked at"] = np.arange(1000)


def read_all_kinds() -> None:
    with h5py.File("x.h5") as file:
        assert "measured" in file.attrs["title"]
        packed = file["run/first/packed"]
        assert packed.attrs["units"] == "m"
        assert all(file[f"run/first/more {i}"][:].size == 6000 for i in range(5))
        assert sum(packed[i].size for i in range(64)) == 32000
        assert file["plain"][1000:15000].size == 14000
        assert file["words"][1] == b"words"
        assert file["run"]["first"].attrs["numbers"].sum() == 21
        assert "nothing" not in file


def recorded_without(layer: Recorded, program: Program) -> Path:
    """Records a program, and takes its input away."""
    make_input(layer.folder / "x.h5")
    (layer.folder / "x.h5").rename(layer.folder / "kept.h5")
    (layer.folder / "x.h5").write_bytes((layer.folder / "kept.h5").read_bytes())
    layer.record(program)
    (layer.folder / "x.h5").unlink()
    return layer.folder / "kept.h5"


def stand_in(layer: Recorded) -> StandIn:
    choices = Choices(inputs=layer.folder, limit=60)
    choices = supplied(layer.folder / "traced", layer.folder / "inputs", choices)
    (made,) = choices.stand_ins.values()
    return made
