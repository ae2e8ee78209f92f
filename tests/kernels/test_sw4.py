"""The kernel `sw4`: time series, images and checkpoints of a seismic simulation."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.prefix import Hdf5
from kernels.bench_tool import (
    Bench,
    bits,
    double_at,
    float_at,
    h5dump_header,
    key_of,
    same_as_golden,
)

GRID = (10, 9, 5)
QUICK = ("--nx", "10", "--ny", "9", "--nz", "5", "--cycles", "4", "--images", "2")
CASES = ("timeseries", "timeseries-gzip", "image", "checkpoint")


def corners(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """First, last, and both sides of the border between two ranks."""
    half = shape[-2] // 2
    inner = (*shape[:-2], half - 1, 0), (*shape[:-2], half, 0)
    border = [tuple(min(at, n - 1) for at, n in zip(each, shape, strict=True)) for each in inner]
    return [tuple(0 for _ in shape), tuple(n - 1 for n in shape), *border]


def smooth_float(key: int, index: int) -> float:
    return float((bits(key, 0) + index) & ((1 << 24) - 1))


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("sw4", *QUICK, "--keep")
    assert [each["case"] for each in samples] == list(CASES)
    nx, ny, nz = GRID
    for sample in samples:
        case = sample["case"]
        shapes: dict[str, tuple[int, ...]]
        if case == "image":
            planes = {"x": (ny, nz), "y": (nx, nz), "z": (nx, ny)}
            shapes = {
                f"image_{i}/{axis}-plane": shape for i in (0, 1) for axis, shape in planes.items()
            }
        elif case == "checkpoint":
            shapes = {f"{name}_{i}": GRID for name in ("U", "Um") for i in (0, 1, 2)}
        else:
            shapes = {f"vel_{i} ijk layout": (4, *GRID) for i in (0, 1, 2)}
        value = {"checkpoint": double_at, "timeseries-gzip": smooth_float}.get(case, float_at)
        total = 0
        with h5py.File(bench.kept("sw4", case) / "data.h5") as file:
            for path, shape in shapes.items():
                data = file[path][:]
                assert data.shape == shape
                assert data.dtype == ("f8" if case == "checkpoint" else "f4")
                total += data.nbytes
                key = key_of(path)
                for at in corners(shape):
                    index = int(np.ravel_multi_index(at, shape))
                    assert data[at] == value(key, index), (path, at)
        assert total == sample["bytes"]["written"]


@pytest.mark.parametrize("case", CASES)
def test_the_layout(serial: Bench, case: str) -> None:
    serial.samples("sw4", *QUICK, "--keep", "--only", case)
    header = h5dump_header(serial.kept("sw4", case) / "data.h5")
    kept = [line for line in header.splitlines() if "SIZE" not in line or "STRSIZE" in line]
    same_as_golden(f"sw4-{case}.txt", "\n".join(kept) + "\n")


def test_cycles_are_written_in_intervals(bench: Bench) -> None:
    arguments = ("--interval", "2", "--compute", "5ms", "--only", "timeseries-gzip")
    (sample,) = bench.samples("sw4", *QUICK, *arguments, "--keep")
    assert 2 * 0.005 <= sample["phases"]["compute"]["min"] < 10 * 0.005
    with h5py.File(bench.kept("sw4", "timeseries-gzip") / "data.h5") as file:
        chunks = file["vel_0 ijk layout"].chunks
    # The largest window, cut to a multiple of four: two ranks halve y.
    assert chunks == (2, 8, 4 if bench.ranks else 8, 5)


def test_wrong_data_are_found(serial: Bench) -> None:
    serial.samples("sw4", *QUICK, "--only", "image", "--keep")
    with h5py.File(serial.kept("sw4", "image") / "data.h5", "r+") as file:
        file["image_1/y-plane"][9, 4] += 1
    reread = serial.start("sw4", *QUICK, "--only", "image", "--reread")
    assert reread.status == 1
    assert "wrong data in image_1/y-plane, element 49" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments, message in (
        (("--cycles", "3", "--interval", "2"), "--cycles must be a multiple of --interval"),
        (("--nx", "0"), "--nx"),
        (("--gzip", "10"), "--gzip is a level"),
    ):
        done = serial.start("sw4", *arguments)
        assert done.status == 2, done.text
        assert message in done.text


def test_more_ranks_than_columns_are_told(tmp_path: Path) -> None:
    done = Bench(tmp_path, Hdf5("2.2.0-mpich"), ranks=2).start("sw4", "--ny", "1")
    assert done.status == 2, done.text
    assert "leave nothing for rank 0" in done.text
