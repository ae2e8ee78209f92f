"""Small asynchronous reads of contiguous data that nobody writes to are made without HDF5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built

if TYPE_CHECKING:
    from pathlib import Path

    from harness.layer import Layer
    from harness.prefix import Hdf5

pytestmark = pytest.mark.threads

SHAPE = (256, 64)
READS = 1024  # of each dataset


def values(base: int) -> np.ndarray:
    return (base + 7 * np.arange(SHAPE[0] * SHAPE[1], dtype="i4")).reshape(SHAPE)


def made(folder: Path, **how: object) -> None:
    """A file, and one that is mounted in it, in which the same names and places hold others."""
    for name, base in (("x.h5", 1000000), ("x.h5.child", 9000000)):
        with h5py.File(folder / name, "w", **how) as file:
            file["contiguous"] = values(base)
            file.create_group("mount")
            file.create_dataset("swapped", data=values(2000000), dtype=">i4")
            file.create_dataset("chunked", data=values(3000000), chunks=(16, 16))
            external = [(str(folder / "raw"), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("external", SHAPE, "i4", external=external)
            file["external"][...] = values(4000000)
            file.create_dataset("unwritten", SHAPE, "i4", fillvalue=5)


def read(layer: Layer, hdf5: Hdf5, *words: str) -> None:
    program = built(f"tests/layers/async/direct_reads_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", *words], limit=120)
    assert done.status == 0, done.text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("user_block", [0, 2048])
def test_only_what_lies_as_in_memory(hdf5: Hdf5, layer: Layer, user_block: int, seed: int) -> None:
    made(layer.folder, userblock_size=user_block)
    read(layer, hdf5, "read_only", str(seed))
    # Half of the boxes are runs of bytes; the first of each dataset wait for others.
    assert READS / 4 < layer.counted("direct_reads") < READS


@pytest.mark.parametrize("what", ["writable", "page_buffer", "mounted"])
def test_not_where_hdf5_may_know_better(hdf5: Hdf5, layer: Layer, what: str) -> None:
    made(layer.folder, **({"fs_strategy": "page"} if what == "page_buffer" else {}))
    read(layer, hdf5, what)
    assert layer.counted("direct_reads") == 0
