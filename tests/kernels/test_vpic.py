"""The kernel `vpic`, and what `bdcats` shares with it."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from kernels.bench_tool import Bench, h5dump_header, key_of, same_as_golden
from kernels.expected import Array, at, held_by

PARTICLES, SLOW, STEPS, BLOCK, STRIDE = 1000, 300, 2, 3, 8
QUICK = ("--particles", PARTICLES, "--slow-particles", SLOW, "--timesteps", STEPS)
STRIDED = ("--block", BLOCK, "--stride", STRIDE)
KINDS = dict.fromkeys(["x", "y", "z", "px", "py", "pz"], "f4") | {"id_1": "i4", "id_2": "f4"}
PATTERNS = ["contiguous", "compound", "interleaved", "compound-members", "strided"]


def variable(group: h5py.Group, name: str) -> Array:
    """A variable of all particles, however the file holds it."""
    data = group["particles"] if "particles" in group else group[name]
    whole: Array = data[name] if data.dtype.names else data[:]
    return whole


def written(ranks: int, particles: int, strided: bool) -> Array:
    """The particles that have been written."""
    shares, first = [], 0
    for rank in range(ranks):
        held = held_by(rank, particles)
        share = np.arange(held)
        if strided:
            share = share[(share % STRIDE < BLOCK) & (share // STRIDE <= (held - BLOCK) // STRIDE)]
        shares.append(first + share)
        first += held
    return np.concatenate(shares)


def check_file(path: Path, ranks: int, particles: int, strided: bool) -> None:
    # Collective buffering may put anything between the blocks: HDF5 fills nothing here.
    hollow = "-independent" in path.parent.name
    total = sum(held_by(rank, particles) for rank in range(ranks))
    places = written(ranks, particles, strided)
    with h5py.File(path) as file:
        assert list(file) == [f"Timestep_{step}" for step in range(STEPS)]
        for step, group in file.items():
            for name, kind in KINDS.items():
                expected = np.zeros(total, kind)
                expected[places] = at(key_of(f"{step}/{name}"), places, kind)
                found = variable(group, name)
                assert found.dtype == np.dtype(f"<{kind}")
                assert len(found) == total
                np.testing.assert_array_equal(found[places], expected[places])
                if hollow:
                    np.testing.assert_array_equal(found, expected)


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("vpic", *QUICK, *STRIDED, "--uneven", "--keep")
    ranks = max(1, bench.ranks)
    modes = ["independent", "collective"][:ranks]
    cases = [f"{pattern}-{mode}" for pattern in PATTERNS for mode in modes]
    assert [each["case"] for each in samples] == cases
    told = bench.start("vpic", *QUICK, *STRIDED, "--uneven", "--list")
    listed = [json.loads(line) for line in told.out.splitlines()]
    for sample, case in zip(samples, listed, strict=True):
        pattern = sample["parameters"]["pattern"]
        strided = pattern == "strided"
        particles = SLOW if strided or pattern == "compound-members" else PARTICLES
        payload = len(written(ranks, particles, strided)) * 32 * STEPS
        assert sample["bytes"]["written"] == payload == case["bytes"]["written"]
        path = bench.kept("vpic", sample["case"]) / "data.h5"
        check_file(path, ranks, particles, strided)


def test_ranks_are_uneven() -> None:
    """Else the scan of the offsets would not be tested above."""
    assert held_by(0, PARTICLES) != held_by(1, PARTICLES)
    assert held_by(0, SLOW) != held_by(1, SLOW)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_layout(serial: Bench, pattern: str) -> None:
    case = f"{pattern}-independent"
    sizes = ("--particles", PARTICLES, "--slow-particles", PARTICLES, "--timesteps", STEPS)
    serial.samples("vpic", *sizes, "--only", case, "--keep")
    alike = {"compound-members": "compound", "strided": "contiguous"}
    golden = f"vpic-{alike.get(pattern, pattern)}.txt"
    same_as_golden(golden, h5dump_header(serial.kept("vpic", case) / "data.h5"))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_wrong_data_are_found(serial: Bench, pattern: str) -> None:
    only = ("--only", f"{pattern}-independent")
    serial.samples("vpic", *QUICK, *STRIDED, *only, "--keep")
    assert serial.start("vpic", *QUICK, *STRIDED, *only, "--reread").status == 0
    with h5py.File(serial.kept("vpic", only[1]) / "data.h5", "r+") as file:
        group = file["Timestep_1"]
        data = group["particles" if "particles" in group else "pz"]
        whole = data[:]
        if data.dtype.names:
            whole["pz"][17] += 1
        else:
            whole[17] += 1
        data[:] = whole
    reread = serial.start("vpic", *QUICK, *STRIDED, *only, "--reread")
    assert reread.status == 1
    assert "wrong data in Timestep_1/pz, element 17" in reread.text


def test_a_file_of_other_sizes_is_told(serial: Bench) -> None:
    only = ("--only", "contiguous-independent")
    serial.samples("vpic", "--particles", 1000, "--timesteps", 2, *only, "--keep")
    reread = serial.start("vpic", "--particles", 999, "--timesteps", 2, *only, "--reread")
    assert reread.status == 1
    assert "dataset x has 1000 particles instead of 999" in reread.text
    reread = serial.start("vpic", "--particles", 1000, "--timesteps", 3, *only, "--reread")
    assert reread.status == 1
    assert "open group Timestep_2" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments, message in (
        (("--block", 9, "--stride", 8), "--stride must not be less than --block"),
        (("--slow-particles", 10, "--block", 6), "--block must not be more than half"),
        (("--particles", 0), "--particles"),
        (("--timesteps", "many"), "--timesteps"),
    ):
        done = serial.start("vpic", *arguments)
        assert done.status == 2, done.text
        assert message in done.text
