"""Small asynchronous reads and writes are carried out together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.layer import NATIVE_BELOW, Options, async_over

if TYPE_CHECKING:
    from pathlib import Path

    from harness.layer import Layer
    from harness.prefix import Hdf5
    from harness.run import Result

pytestmark = pytest.mark.threads

DATASETS, ROWS, COLUMNS = 4, 48, 80
DELAY = "mode=delay;preset=none;servers=1;bandwidth=1GiB;latency=300us"
SLOW = f"under_vol=7202;under_info={{{DELAY};{NATIVE_BELOW}}}"


def requests(layer: Layer, hdf5: Hdf5, *words: str, options: Options = ...) -> Result:
    program = built(f"tests/layers/async/requests_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", *words], options, limit=120)
    assert done.status == 0, done.text
    return done


def check_file(folder: Path) -> None:
    """By the wheel's HDF5, with no plug-in: the datasets are those of the program's model."""
    model = np.fromfile(folder / "x.h5.model", "int32").reshape(DATASETS, ROWS, COLUMNS)
    with h5py.File(folder / "x.h5") as file:
        for i in range(len(file)):
            assert np.array_equal(file[f"d{i}"][:], model[i]), f"d{i}"


# Reads that are fast are not put together for long.
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(hdf5: Hdf5, tmp_path: Path, seed: int) -> None:
    layer = async_over(tmp_path, SLOW if seed % 2 == 0 else NATIVE_BELOW)
    requests(layer, hdf5, "random", str(seed))
    assert seed % 2 != 0 or layer.counted("requests_merged") > 0
    check_file(tmp_path)


def test_random_programs_fit_native(hdf5: Hdf5, layer: Layer) -> None:
    requests(layer, hdf5, "random", "1", options=None)
    check_file(layer.folder)


@pytest.mark.parametrize("what", ["rows", "ends_first"])
def test_rows_become_one(hdf5: Hdf5, layer: Layer, what: str) -> None:
    requests(layer, hdf5, what)
    # The dataset whose numbers are converted does not wait.
    merged = (2 if what == "rows" else 1) * ROWS * (DATASETS - 1)
    assert layer.counted("requests_merged") == merged
    check_file(layer.folder)


def test_a_request_is_taken_back(hdf5: Hdf5, layer: Layer) -> None:
    requests(layer, hdf5, "cancels")
    check_file(layer.folder)


def test_each_request_has_its_error(hdf5: Hdf5, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["d0"] = np.arange(ROWS * COLUMNS, dtype="int32").reshape(ROWS, COLUMNS)
    fault = "kind=error;op=read;type=raw;count=0;errno=EIO"
    layer = async_over(tmp_path, f"under_vol=7204;under_info={{{fault};{NATIVE_BELOW}}}")
    text = requests(layer, hdf5, "fails").out.decode()
    assert "injected" in text
    assert "x.h5" in text
    assert "errno" in text
