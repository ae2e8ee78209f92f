"""The kernel `files`."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from kernels.bench_tool import SERIAL, Bench, h5dump_header, key_of, same_as_golden
from kernels.expected import run_of, smooth_run_of

OPENINGS, FILES, ELEMENTS, COLUMNS = 7, 3, 5, 4
QUICK = (
    *("--openings", OPENINGS, "--files", FILES),
    *("--elements", ELEMENTS, "--columns", COLUMNS),
)
CASES = [
    "open-read-close",
    "open-write-close",
    "open-append-close",
    "open-close",
    "many-small-files",
]


@pytest.fixture
def kept(serial: Bench) -> Bench:
    """All cases, written and kept."""
    samples = serial.samples("files", *QUICK, "--keep")
    assert [each["case"] for each in samples] == CASES
    return serial


def file_of(bench: Bench, case: str, name: str = "data.h5") -> Path:
    return bench.kept("files", case) / name


def test_a_plain_reader_finds_the_data(kept: Bench) -> None:
    written = run_of(key_of("x"), 0, ELEMENTS, "i8")
    for case in ("open-read-close", "open-close"):
        with h5py.File(file_of(kept, case)) as file:
            np.testing.assert_array_equal(file["x"][:], written)
    with h5py.File(file_of(kept, "open-write-close")) as file:  # more openings than elements
        np.testing.assert_array_equal(file["x"][:], run_of(key_of("written"), 0, ELEMENTS, "i8"))
    with h5py.File(file_of(kept, "open-append-close")) as file:
        rows = smooth_run_of(key_of("x"), 0, OPENINGS * COLUMNS, "f4")
        np.testing.assert_array_equal(file["x"][:], rows.reshape(OPENINGS, COLUMNS))
    folder = kept.kept("files", "many-small-files")
    assert sorted(p.name for p in folder.glob("*.h5")) == ["data.h5", "f1.h5", "f2.h5"]
    for path in folder.glob("*.h5"):
        with h5py.File(path) as file:
            assert list(file) == ["d0", "d1", "d2"]
            for data in file.values():
                np.testing.assert_array_equal(data[:], written)
                assert data.attrs["units"] == b"m"


@pytest.mark.parametrize("case", ["open-close", "open-append-close", "many-small-files"])
def test_the_layout(kept: Bench, case: str) -> None:
    text = h5dump_header(file_of(kept, case))
    # What data compress to is zlib's business, and so differs from one to another.
    lines = [line for line in text.splitlines() if "COMPRESSION)" not in line]
    same_as_golden(f"files-{case}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_wrong_data_are_found(kept: Bench, case: str) -> None:
    only = ("--only", case)
    assert kept.start("files", *QUICK, *only, "--reread").status == 0
    many = case == "many-small-files"
    name, element = ("d1", ELEMENTS // 2) if many else ("x", 1)
    with h5py.File(file_of(kept, case, "f2.h5" if many else "data.h5"), "r+") as file:
        data = file[name]
        if data.ndim == 1:
            data[element] ^= 1
        else:
            data[0, element] += 1
    reread = kept.start("files", *QUICK, *only, "--reread")
    assert reread.status == 1
    assert f"wrong data in {name}, element {element}" in reread.text


def test_it_is_for_one_process(tmp_path: Path) -> None:
    done = Bench(tmp_path, SERIAL, 2).start("files", *QUICK)
    assert done.status != 0
    assert "this kernel is for one process" in done.text
    assert list(tmp_path.iterdir()) == []


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments in (("--openings", 0), ("--files", "x"), ("--elements", 0)):
        done = serial.start("files", *arguments)
        assert done.status == 2, done.text
        assert arguments[0] in done.text
