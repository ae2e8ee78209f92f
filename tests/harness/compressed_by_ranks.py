"""What mpi_filters.c (tests/layers/async/ranks) leaves in its file."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np


def check(ranks: int) -> None:
    with h5py.File("x.h5") as file:
        rows = ranks * 64
        data = 3 * 1000003 + np.arange(rows * 500, dtype="i4").reshape(rows, 500)
        assert np.array_equal(file["d"][:rows], data)
        assert (file["d"][rows:] == -7).all()
        assert file["d"].shape == (rows + 64, 500)
    print("checked")


def damage_a_chunk() -> None:
    with h5py.File("x.h5") as file:
        at = file["d"].id.get_chunk_info_by_coord((64, 0)).byte_offset
    with Path("x.h5").open("r+b") as raw:
        raw.seek(at + 40)
        raw.write(b"nonsense")
    print("damaged")
