"""The kernel `amrex`: plotfiles of adaptive meshes."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from kernels.bench_tool import Bench, double_at, h5dump_header, key_of, same_as_golden

DOMAIN, GRID, COMPONENTS, LEVELS = 16, 8, 2, 3
QUICK = ("--domain", 16, "--max-grid", 8, "--components", 2, "--levels", 3)
CASES = ("single-default", "multi-default", "single-aligned", "multi-aligned")


def check_level(file: h5py.File, number: int, plot: int, ranks: int) -> int:
    """Looks cells up through boxes and offsets, as a visualization would; returns bytes."""
    level = file[f"level_{number}"]
    boxes, offsets, data = level["boxes"][:], level["data:offsets=0"][:], level["data:datatype=0"]
    assert len(boxes) == level.attrs["ngrid"] == (DOMAIN // GRID) ** 3
    assert offsets[-1] == data.shape[0]
    side = DOMAIN * 2**number
    assert level.attrs["prob_domain"].tolist() == (0, 0, 0, side - 1, side - 1, side - 1)
    low = (side - DOMAIN) // 2
    assert {tuple(box)[:3] for box in boxes} == {
        (i, j, k) for i in (low, low + GRID) for j in (low, low + GRID) for k in (low, low + GRID)
    }
    if ranks == 2:  # those of rank 0 come first: every second box
        assert (boxes["lo_i"] - low).tolist() == [0] * 4 + [GRID] * 4
    for number_of_box, box in enumerate(boxes):
        li, lj, lk, hi, hj, hk = (int(each) for each in tuple(box))
        assert (hi - li, hj - lj, hk - lk) == (GRID - 1,) * 3
        values = data[offsets[number_of_box] : offsets[number_of_box + 1]]
        fab = values.reshape(COMPONENTS, GRID, GRID, GRID)  # component, k, j, i
        for component in range(COMPONENTS):
            key = key_of(f"{plot}/level_{number}/{component}")
            for i, j, k in ((li, lj, lk), (hi, lj, lk), (li, hj, lk), (li, lj, hk), (hi, hj, hk)):
                expected = double_at(key, (k * side + j) * side + i)
                assert fab[component, k - lk, j - lj, i - li] == expected
    return int(data.nbytes)


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("amrex", *QUICK, "--keep")
    assert [each["case"] for each in samples] == list(CASES)
    for sample in samples:
        levels = 1 if sample["case"].startswith("single") else LEVELS
        total = 0
        for plot, name in enumerate(("data.h5", "data-1.h5")):
            with h5py.File(bench.kept("amrex", sample["case"]) / name) as file:
                assert file.attrs["finest_level"] == levels - 1
                assert file.attrs["time"] == plot
                assert file.attrs["component_1"] == b"component_1"
                assert not file["level_0/boxcenter"][:]["i"].any()
                for number in range(levels):
                    total += check_level(file, number, plot, max(1, bench.ranks))
        assert total == sample["bytes"]["written"]


def test_more_ranks_than_boxes(bench: Bench) -> None:
    """One box: the other rank has nothing to write, and takes part."""
    samples = bench.samples("amrex", "--domain", 8, "--max-grid", 8, "--components", 1)
    assert {each["bytes"]["written"] for each in samples} == {2 * 8**4, 6 * 8**4}


@pytest.mark.parametrize("case", ["single-default", "multi-default"])
def test_the_layout(serial: Bench, case: str) -> None:
    serial.samples("amrex", *QUICK, "--keep", "--only", case)
    same_as_golden(f"amrex-{case}.txt", h5dump_header(serial.kept("amrex", case) / "data.h5"))


def test_large_data_are_aligned(serial: Bench) -> None:
    wanted = ("--domain", 128, "--max-grid", 64, "--components", 1, "--plotfiles", 1, "--keep")

    def offset(case: str) -> int:
        serial.samples("amrex", *wanted, "--only", case)
        with h5py.File(serial.kept("amrex", case) / "data.h5") as file:
            return int(file["level_0/data:datatype=0"].id.get_offset())

    assert offset("single-aligned") % (16 << 20) == 0
    assert offset("single-default") % (16 << 20) != 0


def test_wrong_data_are_found(serial: Bench) -> None:
    only = ("--only", "multi-default")
    serial.samples("amrex", *QUICK, *only, "--keep")
    path: Path = serial.kept("amrex", "multi-default") / "data-1.h5"
    with h5py.File(path, "r+") as file:
        file["level_2/data:datatype=0"][-1] += 1
    reread = serial.start("amrex", *QUICK, *only, "--reread")
    assert reread.status == 1
    assert "wrong data in level_2/data:datatype=0" in reread.text
    with h5py.File(path, "r+") as file:
        file["level_0/data:offsets=0"][3] += 1
    reread = serial.start("amrex", *QUICK, *only, "--reread")
    assert "wrong data in level_0/data:offsets=0" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments, message in (
        (("--domain", "100", "--max-grid", "32"), "--domain must be even and a multiple"),
        (("--levels", "11"), "at most 10 levels"),
        (("--components", "0"), "--components"),
    ):
        done = serial.start("amrex", *arguments)
        assert done.status == 2, done.text
        assert message in done.text
