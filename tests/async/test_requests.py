"""Small asynchronous reads and writes are carried out together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from request_programs import NATIVE, requests, told

if TYPE_CHECKING:
    from pathlib import Path

    from harness.prefix import Hdf5

DATASETS, ROWS, COLUMNS = 4, 48, 80
DELAY = "mode=delay;preset=none;servers=1;bandwidth=1GiB;latency=300us"
SLOW = f"under_vol=7202;under_info={{{DELAY};{NATIVE}}}"


def check_file(folder: Path) -> None:
    """By the wheel's HDF5, with no plug-in: the datasets are those of the program's model."""
    model = np.fromfile(folder / "x.h5.model", "int32").reshape(DATASETS, ROWS, COLUMNS)
    with h5py.File(folder / "x.h5") as file:
        for i in range(len(file)):
            assert np.array_equal(file[f"d{i}"][:], model[i]), f"d{i}"


# Reads that are fast are not put together for long.
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(hdf5: Hdf5, tmp_path: Path, seed: int) -> None:
    below = SLOW if seed % 2 == 0 else NATIVE
    done = requests(f"requests_{hdf5.mpi}", tmp_path, "random", str(seed), below=below)
    assert done.status == 0, done.text
    assert seed % 2 != 0 or told(tmp_path, "requests_merged") > 0
    check_file(tmp_path)


def test_random_programs_fit_native(hdf5: Hdf5, tmp_path: Path) -> None:
    done = requests(f"requests_{hdf5.mpi}", tmp_path, "random", "1", below=None)
    assert done.status == 0, done.text
    check_file(tmp_path)


@pytest.mark.parametrize("what", ["rows", "ends_first"])
def test_rows_become_one(hdf5: Hdf5, tmp_path: Path, what: str) -> None:
    done = requests(f"requests_{hdf5.mpi}", tmp_path, what)
    assert done.status == 0, done.text
    # The dataset whose numbers are converted does not wait.
    assert told(tmp_path, "requests_merged") == (2 if what == "rows" else 1) * ROWS * (DATASETS - 1)
    check_file(tmp_path)


def test_a_request_is_taken_back(hdf5: Hdf5, tmp_path: Path) -> None:
    done = requests(f"requests_{hdf5.mpi}", tmp_path, "cancels")
    assert done.status == 0, done.text
    check_file(tmp_path)


def test_each_request_has_its_error(hdf5: Hdf5, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["d0"] = np.arange(ROWS * COLUMNS, dtype="int32").reshape(ROWS, COLUMNS)
    fault = "kind=error;op=read;type=raw;count=0;errno=EIO"
    below = f"under_vol=7204;under_info={{{fault};{NATIVE}}}"
    done = requests(f"requests_{hdf5.mpi}", tmp_path, "fails", below=below)
    text = done.out.decode()
    assert "injected" in text, done.text
    assert "x.h5" in text
    assert "errno" in text
