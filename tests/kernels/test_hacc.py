"""The kernel `hacc`."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from kernels.bench_tool import Bench, h5dump_header, key_of, same_as_golden
from kernels.expected import Array, run_of

PARTICLES = 1001  # odd: so that arrays of 8-byte numbers do not begin at multiples of 8
KINDS = dict.fromkeys(["xx", "yy", "zz", "vx", "vy", "vz", "phi"], "f4") | {
    "pid": "i8",
    "mask": "u2",
}
STORAGES = ["arrays", "compound", "blob"]


def variables(path: Path, ranks: int) -> dict[str, Array]:
    """All particles' variables, however the file holds them."""
    with h5py.File(path) as file:
        if "blob" not in file:
            source = file["particles"][:] if "particles" in file else file
            return {name: source[name][:] for name in KINDS}
        blob = file["blob"][:].reshape(ranks, 38 * PARTICLES)
    parts: dict[str, list[Array]] = {name: [] for name in KINDS}
    for mine in blob:
        first = 0
        for name, kind in KINDS.items():
            size = PARTICLES * np.dtype(kind).itemsize
            parts[name].append(np.frombuffer(mine[first : first + size].tobytes(), f"<{kind}"))
            first += size
        assert first == len(mine)
    return {name: np.concatenate(each) for name, each in parts.items()}


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("hacc", "--particles", PARTICLES, "--keep")
    ranks = max(1, bench.ranks)
    modes = ["independent", "collective"][:ranks]
    cases = [f"{storage}-{mode}" for storage in STORAGES for mode in modes]
    assert [each["case"] for each in samples] == cases
    for sample in samples:
        assert sample["bytes"]["written"] == 38 * PARTICLES * ranks
        found = variables(bench.kept("hacc", sample["case"]) / "data.h5", ranks)
        for name, kind in KINDS.items():
            expected = run_of(key_of(name), 0, PARTICLES * ranks, kind)
            assert found[name].dtype == expected.dtype
            np.testing.assert_array_equal(found[name], expected)


@pytest.mark.parametrize("storage", STORAGES)
def test_the_layout(serial: Bench, storage: str) -> None:
    case = f"{storage}-independent"
    serial.samples("hacc", "--particles", PARTICLES, "--only", case, "--keep")
    same_as_golden(f"hacc-{storage}.txt", h5dump_header(serial.kept("hacc", case) / "data.h5"))


@pytest.mark.parametrize("storage", STORAGES)
def test_wrong_data_are_found(serial: Bench, storage: str) -> None:
    arguments = ("hacc", "--only", f"{storage}-independent", "--particles")
    serial.samples(*arguments, PARTICLES, "--keep")
    assert serial.start(*arguments, PARTICLES, "--reread").status == 0
    with h5py.File(serial.kept("hacc", arguments[2]) / "data.h5", "r+") as file:
        if storage == "arrays":
            file["mask"][PARTICLES - 1] ^= 1
        elif storage == "blob":
            file["blob"][38 * PARTICLES - 2] ^= 1  # the same, little endian
        else:
            whole = file["particles"][:]
            whole["mask"][PARTICLES - 1] ^= 1
            file["particles"][:] = whole
    reread = serial.start(*arguments, PARTICLES, "--reread")
    assert reread.status == 1
    assert f"wrong data in mask, element {PARTICLES - 1}" in reread.text
    other = serial.start(*arguments, PARTICLES - 1, "--reread")
    assert other.status == 1
    assert "dataset" in other.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments in (("--particles", 0), ("--particles", "some"), ("--timesteps", 2)):
        done = serial.start("hacc", *arguments)
        assert done.status == 2, done.text
        assert arguments[0] in done.text
