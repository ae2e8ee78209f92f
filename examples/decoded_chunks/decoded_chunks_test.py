"""Decoded chunks have the bytes that h5py reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

HERE = Path(__file__).parent
KINDS: dict[str, dict[str, Any]] = {
    "gzip": {"compression": 4, "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
    "plain": {},
}
SHAPE, CHUNK = (25, 7), (10, 4)


def make(path: Path) -> None:
    values = np.arange(np.prod(SHAPE), dtype=">i4").reshape(SHAPE)
    with h5py.File(path, "w") as f:
        for name, filters in KINDS.items():
            f.create_dataset(f"in/{name}", data=values, chunks=CHUNK, **filters)
        sparse = f.create_dataset("sparse", SHAPE, "f8", chunks=CHUNK, fillvalue=2.5, compression=1)
        sparse[12:14] = 1
        f["contiguous"] = values


def put_together(folder: Path, dtype: np.dtype) -> np.ndarray:
    whole = np.zeros([-(-n // c) * c for n, c in zip(SHAPE, CHUNK, strict=True)], dtype)
    for file in folder.iterdir():
        row, column = map(int, file.name.split("_"))
        chunk = np.fromfile(file, dtype).reshape(CHUNK)
        whole[row : row + CHUNK[0], column : column + CHUNK[1]] = chunk
    return whole[: SHAPE[0], : SHAPE[1]]


@pytest.mark.parametrize("stack", ["decoded_chunks", "decoded_chunks,async"])
def test_chunks_are_what_h5py_reads(tmp_path: Path, stack: str) -> None:
    make(tmp_path / "x.h5")
    environment = os.environ | {
        "HDF5_PLUGIN_PATH": str(HERE.parents[1] / "build/dev/lib/plugins"),
        "DECODED_CHUNKS_FOLDER": str(tmp_path / "chunks"),
    }
    command = [str(Path(sys.executable).with_name("headrace")), "run", "--quiet", "--stack", stack]
    program = "import h5py; h5py.File('x.h5').visititems(lambda name, it: None)"
    subprocess.run(
        [*command, "--", sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=120,
    )
    with h5py.File(tmp_path / "x.h5") as f:
        for name in [*(f"in/{kind}" for kind in KINDS), "sparse"]:
            chunks = tmp_path / "chunks" / name
            assert len(list(chunks.iterdir())) == 6
            assert (put_together(chunks, f[name].dtype) == f[name][...]).all()
    assert not (tmp_path / "chunks/contiguous").exists()
