"""The kernel `bdcats`; the file is vpic's."""

from __future__ import annotations

import h5py
import pytest
from kernels.bench_tool import Bench, h5dump_header, same_as_golden
from kernels.expected import held_by
from kernels.test_vpic import PARTICLES, QUICK, STEPS, check_file

# Read of a share of N particles with these options.
OPTIONS = ("--particles", PARTICLES, "--timesteps", STEPS, "--percent", 30)
STRIDED = ("--block", 3, "--stride", 8)
PATTERNS = ["contiguous", "partial", "strided"]


def part_of(pattern: str, share: int) -> int:
    if pattern == "partial":
        return share * 30 // 100
    return ((share - 3) // 8 + 1) * 3 if pattern == "strided" else share


def test_reads_even_shares_of_what_vpic_writes(bench: Bench) -> None:
    ranks = max(1, bench.ranks)
    samples = bench.samples("bdcats", *OPTIONS, *STRIDED, "--uneven", "--keep")
    modes = ["independent", "collective"][:ranks]
    cases = [f"{pattern}-{mode}" for pattern in PATTERNS for mode in modes]
    assert [each["case"] for each in samples] == cases
    total = sum(held_by(rank, PARTICLES) for rank in range(ranks))
    shares = [total * (rank + 1) // ranks - total * rank // ranks for rank in range(ranks)]
    for sample in samples:
        pattern = sample["parameters"]["pattern"]
        read = sum(part_of(pattern, share) for share in shares)
        assert sample["bytes"]["read"] == read * 32 * STEPS
        assert sample["bytes"]["written"] == total * 32 * STEPS
        assert sample["bytes"]["file"] > total * 32 * STEPS
        assert "write" not in sample["phases"]  # it is preparation, and counts as "create"
        path = bench.kept("bdcats", sample["case"]) / "data.h5"
        check_file(path, ranks, PARTICLES, strided=False)


def test_the_layout_is_that_of_vpic(serial: Bench) -> None:
    serial.samples("bdcats", *OPTIONS, *STRIDED, "--keep", "--only", "partial-*")
    serial.samples("vpic", *QUICK, "--only", "contiguous-*", "--keep")
    for kernel, case in (("vpic", "contiguous-independent"), ("bdcats", "partial-independent")):
        same_as_golden("vpic-contiguous.txt", h5dump_header(serial.kept(kernel, case) / "data.h5"))


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [("contiguous", 999, None), ("partial", 299, 300), ("strided", 2, 3)],
)
def test_just_the_pattern_is_read(
    serial: Bench, pattern: str, inside: int, outside: int | None
) -> None:
    """A wrong element that it reads is found, one beside it is none of its business."""
    case = f"{pattern}-independent"
    serial.samples("bdcats", *OPTIONS, *STRIDED, "--keep", "--only", case)
    for element, status in ((outside, 0), (inside, 1)):
        if element is None:
            continue
        with h5py.File(serial.kept("bdcats", case) / "data.h5", "r+") as file:
            file["Timestep_1/id_1"][element] ^= 1
        reread = serial.start("bdcats", *OPTIONS, *STRIDED, "--only", case, "--reread")
        assert reread.status == status, reread.text
    assert f"wrong data in Timestep_1/id_1, element {inside}" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments, message in (
        (("--block", 9, "--stride", 8), "--stride must not be less than --block"),
        (("--particles", 10, "--block", 6), "--block must not be more than half"),
        (("--percent", 0), "--percent"),
        (("--percent", 101), "--percent"),
    ):
        done = serial.start("bdcats", *arguments)
        assert done.status == 2, done.text
        assert message in done.text
