"""The kernel `iotest`: what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import pytest
from harness.prefix import Hdf5
from kernels.bench_tool import Bench, h5dump_header, same_as_golden
from kernels.iotest_tool import BASIC, ONE_RANK, SMALL, check_file

OPENMPI = Hdf5("1.14.5-openmpi")


def run_and_check(bench: Bench, *arguments: object) -> list[dict[str, Any]]:
    """Runs, and reads every file with h5py."""
    samples = bench.samples("iotest", *SMALL, "--keep", *arguments)
    for sample in samples:
        check_file(bench.kept("iotest", sample["case"]) / "data.h5", sample["parameters"])
    return samples


def test_the_basic_combinations(bench: Bench) -> None:
    samples = run_and_check(bench)
    assert [each["case"] for each in samples] == (BASIC if bench.ranks else ONE_RANK)
    for sample in samples:
        assert sample["bytes"]["written"] == 2 * 3 * 4 * 6 * 8 * max(1, bench.ranks)
        assert sample["driver"] == ("mpio" if bench.ranks else "sec2")
        assert sample["parameters"]["process-columns"] == max(1, bench.ranks)
        phases = {"create", "write", "flush", "close", "open", "read", "close_read"}
        assert sample["phases"].keys() == phases


def test_two_process_rows(tmp_path: Path) -> None:
    samples = run_and_check(Bench(tmp_path, OPENMPI, ranks=2), "--process-rows", 2)
    assert [each["case"] for each in samples] == BASIC
    assert samples[0]["parameters"]["process-columns"] == 1


def test_a_grid_of_two_by_two(tmp_path: Path) -> None:
    samples = run_and_check(Bench(tmp_path, OPENMPI, ranks=4), "--process-columns", 2)
    assert [each["case"] for each in samples] == BASIC
    assert samples[0]["parameters"]["process-rows"] == 2


def test_strong_scaling_divides_the_arrays(tmp_path: Path) -> None:
    bench = Bench(tmp_path, OPENMPI, ranks=4)
    grid = ("--process-rows", 2, "--scaling", "strong", "--mpi-io", "collective")
    samples = run_and_check(bench, *grid)
    assert len(samples) == 12
    for sample in samples:
        assert sample["bytes"]["written"] == 2 * 3 * 4 * 6 * 8
        assert sample["case"].endswith("-collective-strong")


@pytest.mark.parametrize("rank", [2, 3, 4])
@pytest.mark.parametrize("slowest", ["step", "array"])
def test_the_layout(serial: Bench, rank: int, slowest: str) -> None:
    chosen = ("--dataset-rank", rank, "--slowest-dimension", slowest)
    samples = serial.samples("iotest", *SMALL, "--keep", *chosen)
    files = [serial.kept("iotest", each["case"]) / "data.h5" for each in samples]
    assert len(files) == 2
    same_as_golden(f"iotest-{rank}d-{slowest}.txt", "".join(map(h5dump_header, files)))


def test_wrong_data_are_found(serial: Bench) -> None:
    """Also when the bytes are right, but belong to another step."""
    only = ("--only", "4d-step-contiguous-independent")
    serial.samples("iotest", *SMALL, "--keep", *only)
    path = serial.kept("iotest", only[1]) / "data.h5"
    with h5py.File(path, "r+") as file:
        data = file["dataset"]
        data[0, 1, 2, 3], data[1, 1, 2, 3] = data[1, 1, 2, 3], data[0, 1, 2, 3]
    reread = serial.start("iotest", *SMALL, "--reread", *only)
    assert reread.status == 1
    assert "wrong data in dataset of " in reread.text
    assert "(step 0, array 1), element 39:" in reread.text


def test_another_shape_is_found(serial: Bench) -> None:
    only = ("--only", "3d-step-contiguous-independent", "--reread")
    serial.samples("iotest", *SMALL, "--keep", *only[:2])
    reread = serial.start("iotest", *SMALL, *only, "--rows", 3)
    assert reread.status == 1
    assert "dataset step=0 is 3 x 4 x 6, not 3 x 3 x 6" in reread.text


def test_other_ranks_can_reread(tmp_path: Path) -> None:
    """Nothing that read() needs is left in memory only, or depends on the stack."""
    strong = ("--scaling", "strong", "--mpi-io", "independent")
    Bench(tmp_path, OPENMPI, ranks=2).samples("iotest", *SMALL, *strong, "--keep")
    done = Bench(tmp_path).start("iotest", *SMALL, *strong, "--reread")
    assert done.status == 0, done.text


def test_gzip_compresses(bench: Bench) -> None:
    sizes = ("--rows", 100, "--columns", 20)
    samples = run_and_check(bench, *sizes, "--layout", "chunked", "--gzip", "0,6")
    by_case = {each["case"]: each["bytes"]["file"] for each in samples}
    compressed = [case for case in by_case if case.endswith("gzip=6")]
    assert len(compressed) == 6
    for case in compressed:
        assert by_case[case] < by_case[case.removesuffix("-gzip=6")] - 10_000
        with h5py.File(bench.kept("iotest", case) / "data.h5") as file:
            found: list[h5py.Dataset] = []
            file.visititems(
                lambda _, item, found=found: (
                    found.append(item) if isinstance(item, h5py.Dataset) else None
                )
            )
            assert all(each.compression == "gzip" for each in found)
            assert all(each.compression_opts == 6 for each in found)


def test_fill_is_written_or_not(bench: Bench) -> None:
    samples = run_and_check(bench, "--fill-values", "all", "--dataset-rank", 3)
    assert sum(each["case"].endswith("-nofill") for each in samples) * 2 == len(samples)


def test_alignment(serial: Bench) -> None:
    aligned = ("--alignment-increment", "1,64Ki", "--alignment-threshold", "100")
    samples = run_and_check(serial, *aligned, "--dataset-rank", 2, "--layout", "contiguous")
    assert len(samples) == 4
    for sample in samples:
        wanted = sample["parameters"]["alignment-increment"]
        with h5py.File(serial.kept("iotest", sample["case"]) / "data.h5") as file:
            offsets: list[int] = []
            file.visititems(
                lambda _, item, offsets=offsets: (
                    offsets.append(item.id.get_offset()) if isinstance(item, h5py.Dataset) else None
                )
            )
        assert len(offsets) == 6
        assert all(offset % wanted == 0 for offset in offsets)
        assert any(offset % (64 << 10) for offset in offsets) == (wanted == 1)


def test_metadata_blocks(serial: Bench) -> None:
    chosen = ("--one-case", 1, "--meta-block-size")
    small = run_and_check(serial, *chosen, 2048)[0]
    large = run_and_check(serial, *chosen, "1Mi")[0]
    assert large["case"].endswith("-meta=1048576")
    assert small["bytes"]["file"] < 100_000
    # Metadata and data lie apart: raw data begin beyond the block.
    with h5py.File(serial.kept("iotest", large["case"]) / "data.h5") as file:
        assert file["step=0/array=0"].id.get_offset() >= 1 << 20


@pytest.mark.parametrize(
    ("bounds", "version"),
    [(("earliest", "latest"), 0), (("v18", "v18"), 2), (("v110", "latest"), 3)],
)
def test_format_bounds(serial: Bench, bounds: tuple[str, str], version: int) -> None:
    low, high = bounds
    chosen = ("--one-case", 1, "--libver-bound-low", low, "--libver-bound-high", high)
    sample = run_and_check(serial, *chosen)[0]
    path = serial.kept("iotest", sample["case"]) / "data.h5"
    assert path.read_bytes()[8] == version  # of the superblock


def test_split_files(serial: Bench) -> None:
    samples = serial.samples("iotest", *SMALL, "--split", "1", "--keep")
    assert [each["case"] for each in samples] == [f"{case}-split" for case in ONE_RANK]
    for sample in samples:
        assert sample["driver"] == "split of sec2"
        folder = serial.kept("iotest", sample["case"])
        assert not (folder / "data.h5").exists()
        assert (folder / "data.h5-m.h5").exists()
        raw = (folder / "data.h5-r.h5").stat().st_size
        assert raw >= sample["bytes"]["written"]
        assert sample["bytes"]["file"] == raw + (folder / "data.h5-m.h5").stat().st_size


@pytest.mark.parametrize("mpi", ["no", "yes"])
def test_drivers_of_a_single_process(serial: Bench, mpi: str) -> None:
    drivers = {"": "sec2", "-core": "core"}
    if mpi == "yes":
        drivers["-mpi-io-uni"] = "mpio"
    names = ",".join(suffix[1:] or "posix" for suffix in drivers)
    chosen = ("--single-process", names, "--dataset-rank", 4, "--layout", "chunked")
    samples = run_and_check(serial, "--mpi", mpi, *chosen)
    assert len(samples) == 2 * len(drivers)
    for sample in samples:
        assert sample["driver"] == drivers[sample["case"].partition("-independent")[2]]


def test_mpi_io_without_mpi(serial: Bench) -> None:
    done = serial.start("iotest", *SMALL, "--single-process", "mpi-io-uni", "--one-case", 1)
    assert done.status == 1
    assert "mpi-io-uni needs MPI" in done.text


def test_the_delay_of_a_step(serial: Bench) -> None:
    sample = serial.samples("iotest", *SMALL, "--one-case", 1, "--delay", "20ms")[0]
    assert sample["phases"]["compute"]["min"] >= 2 * 0.02
    assert sample["write_wall"] >= 2 * 0.02
    sample = serial.samples("iotest", *SMALL, "--one-case", 1, "--delay", "9s", "--compute", "1ms")[
        0
    ]
    assert sample["phases"]["compute"]["max"] < 5
