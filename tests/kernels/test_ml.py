"""The kernel `ml`."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from kernels.bench_tool import SERIAL, Bench, h5dump_header, key_of, same_as_golden
from kernels.expected import run_of, smooth_run_of

SAMPLES, IMAGE = 13, 224 * 224 * 3  # no multiple of the batch, nor of two ranks
QUICK = ("--samples-count", SAMPLES, "--batch", 4)
STORAGES = ["contiguous", "chunked", "gzip"]
CASES = [f"{storage}-{read}" for storage in STORAGES for read in ("sample", "union")]


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("ml", *QUICK, "--keep")
    assert [each["case"] for each in samples] == CASES
    for sample in samples:
        assert sample["bytes"]["written"] == SAMPLES * (IMAGE + 4)
        with h5py.File(bench.kept("ml", sample["case"]) / "data.h5") as file:
            images, labels = file["images"], file["labels"][:]
            assert images.shape == (SAMPLES, 224, 224, 3)
            assert images.dtype == np.uint8
            values = smooth_run_of if sample["case"].startswith("gzip") else run_of
            expected = values(key_of("images"), 0, SAMPLES * IMAGE, "u1")
            np.testing.assert_array_equal(images[:].ravel(), expected)
        assert labels.dtype == np.dtype("<i4")
        np.testing.assert_array_equal(labels, run_of(key_of("labels"), 0, SAMPLES, "i4"))


@pytest.mark.parametrize("storage", STORAGES)
def test_the_layout(serial: Bench, storage: str) -> None:
    serial.samples("ml", *QUICK, "--only", f"{storage}-sample", "--keep")
    text = h5dump_header(serial.kept("ml", f"{storage}-sample") / "data.h5")
    # What data compress to is zlib's business, and so differs from one to another.
    lines = [line for line in text.splitlines() if "COMPRESSION)" not in line]
    same_as_golden(f"ml-{storage}.txt", "\n".join(lines) + "\n")


def test_each_epoch_reads_each_sample_once(bench: Bench) -> None:
    samples = bench.samples("ml", *QUICK, "--epochs", 3, "--only", "chunked-*")
    assert len(samples) == 2
    for sample in samples:
        assert sample["bytes"]["written"] == SAMPLES * (IMAGE + 4)
        assert sample["bytes"]["read"] == 3 * SAMPLES * (IMAGE + 4)


@pytest.mark.parametrize("case", CASES)
def test_wrong_data_are_found(serial: Bench, case: str) -> None:
    """Every sample is read: the last byte of each, one after the other, is made wrong."""
    arguments = ("ml", *QUICK, "--only", case)
    serial.samples(*arguments, "--keep")
    assert serial.start(*arguments, "--reread").status == 0
    for sample in range(SAMPLES):
        with h5py.File(serial.kept("ml", case) / "data.h5", "r+") as file:
            file["images"][sample, 223, 223, 2] ^= 1
        reread = serial.start(*arguments, "--reread", "--seed", 7)
        assert reread.status == 1
        assert f"wrong data in images, element {(sample + 1) * IMAGE - 1}" in reread.text
        with h5py.File(serial.kept("ml", case) / "data.h5", "r+") as file:
            file["images"][sample, 223, 223, 2] ^= 1
    with h5py.File(serial.kept("ml", case) / "data.h5", "r+") as file:
        file["labels"][5] ^= 1
    reread = serial.start(*arguments, "--reread")
    assert reread.status == 1
    assert "wrong data in labels, element 5" in reread.text


def test_another_storage_is_told(serial: Bench) -> None:
    serial.samples("ml", *QUICK, "--only", "*-sample", "--keep")
    folder = serial.kept("ml", "gzip-sample")
    (serial.kept("ml", "chunked-sample") / "data.h5").replace(folder / "data.h5")
    reread = serial.start("ml", *QUICK, "--only", "gzip-sample", "--reread")
    assert reread.status == 1
    assert "dataset images is stored in another way" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments in (("--samples-count", 0), ("--batch", 0), ("--epochs", "many")):
        done = serial.start("ml", *arguments)
        assert done.status == 2, done.text
        assert arguments[0] in done.text


def test_fewer_samples_than_ranks_are_told(tmp_path: Path) -> None:
    done = Bench(tmp_path, SERIAL, ranks=2).start("ml", "--samples-count", 1)
    assert done.status != 0
    assert "--samples-count must not be less than the number of ranks" in done.text
