"""The kernel `h5py`."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
import pytest
from kernels.bench_tool import SERIAL, Bench, bits, h5dump_header, key_of, same_as_golden
from kernels.expected import Array, run_of, smooth_run_of

ROWS, COLUMNS, BLOCK, LIST, SLOW_ROWS, SLOW_COLUMNS = 1000, 5, 96, 37, 100, 7
QUICK = (
    *("--rows", ROWS, "--columns", COLUMNS, "--block", BLOCK, "--list", LIST),
    *("--slow-rows", SLOW_ROWS, "--slow-columns", SLOW_COLUMNS),
)
NUMBERS = ["append-rows", "append-blocks", "rows-of-columns", "fancy-rows"]
TEXTS = ["strings-variable", "strings-fixed"]
CASES = ["append-rows", "append-blocks", "gzip-columns", *TEXTS, "table-append", *NUMBERS[2:]]
TABLE = {"time": "i8", "x": "f4", "y": "f4", "z": "f4", "channel": "u2", "count": "i4"}


def text_at(row: int) -> bytes:
    key = key_of("texts")
    length = 1 + bits(key, row * 64) % 24
    return bytes(ord("a") + (bits(key, row * 64 + 1 + i) & 0xFF) % 26 for i in range(length))


@pytest.fixture
def kept(serial: Bench) -> Bench:
    """All cases, written and kept."""
    samples = serial.samples("h5py", *QUICK, "--keep")
    assert [each["case"] for each in samples] == CASES
    return serial


def opened(bench: Bench, case: str, mode: str = "r") -> h5py.File:
    return h5py.File(bench.kept("h5py", case) / "data.h5", mode)


def test_a_plain_reader_finds_the_numbers(kept: Bench) -> None:
    for case in NUMBERS:
        shape = (SLOW_ROWS, SLOW_COLUMNS) if case == "rows-of-columns" else (ROWS, COLUMNS)
        with opened(kept, case) as file:
            data = file["data"]
            assert data.shape == shape
            assert data.maxshape[0] == (None if case.startswith("append") else shape[0])
            expected = run_of(key_of("data"), 0, shape[0] * shape[1], "f8")
            np.testing.assert_array_equal(data[:], expected.reshape(shape))
    with opened(kept, "gzip-columns") as file:
        assert list(file) == [f"column_{i}" for i in range(COLUMNS)]
        for name, data in file.items():
            assert (data.compression, data.shuffle) == ("gzip", True)
            np.testing.assert_array_equal(data[:], smooth_run_of(key_of(name), 0, ROWS, "f8"))


def test_a_plain_reader_finds_the_records(kept: Bench) -> None:
    texts = [text_at(row) for row in range(ROWS)]
    for case in TEXTS:
        with opened(kept, case) as file:
            variable = case == "strings-variable"
            info = h5py.check_string_dtype(file["texts"].dtype)
            assert (info.encoding, info.length) == (("utf-8", None) if variable else ("ascii", 24))
            assert list(file["texts"][:]) == texts
    with opened(kept, "table-append") as file:
        table = file["table"]
        assert table.dtype == np.dtype([(name, f"<{kind}") for name, kind in TABLE.items()])
        for name, kind in TABLE.items():
            np.testing.assert_array_equal(table[name], run_of(key_of(name), 0, ROWS, kind))


def test_chunks_are_those_that_h5py_chooses(kept: Bench) -> None:
    with h5py.File.in_memory() as mine:

        def chosen(name: str, **how: Any) -> object:
            return mine.create_dataset(name, **how).chunks

        growing = {"shape": (0, COLUMNS), "maxshape": (None, COLUMNS), "dtype": "f8"}
        text = {"shape": (0,), "maxshape": (None,)}
        wanted: dict[str, tuple[str, dict[str, Any]]] = {
            "append-rows": ("data", growing),
            "gzip-columns": ("column_0", {"shape": (ROWS,), "dtype": "f8", "chunks": True}),
            "strings-variable": ("texts", {**text, "dtype": h5py.string_dtype()}),
            "strings-fixed": ("texts", {**text, "dtype": "S24"}),
            "fancy-rows": ("data", {"shape": (ROWS, COLUMNS), "dtype": "f8", "chunks": True}),
        }
        for case, (name, how) in wanted.items():
            with opened(kept, case) as file:
                assert file[name].chunks == chosen(case, **how), case


def test_chunks_of_large_datasets_too(serial: Bench) -> None:
    sizes = ("--rows", 300000, "--columns", 2, "--block", 50000)
    serial.samples("h5py", *sizes, "--only", "gzip-columns", "--keep")
    with h5py.File.in_memory() as mine, opened(serial, "gzip-columns") as file:
        assert (
            file["column_1"].chunks
            == mine.create_dataset("x", shape=(300000,), dtype="f8", chunks=True).chunks
        )


@pytest.mark.parametrize("case", CASES)
def test_the_layout(serial: Bench, case: str) -> None:
    serial.samples("h5py", *QUICK, "--only", case, "--keep")
    text = h5dump_header(serial.kept("h5py", case) / "data.h5")
    # What data compress to is zlib's business, and so differs from one to another.
    lines = [line for line in text.splitlines() if "COMPRESSION)" not in line]
    same_as_golden(f"h5py-{case}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_wrong_data_are_found(serial: Bench, case: str) -> None:
    only = ("--only", case)
    serial.samples("h5py", *QUICK, *only, "--keep")
    assert serial.start("h5py", *QUICK, *only, "--reread").status == 0
    with opened(serial, case, "r+") as file:
        name = list(file)[-1]
        last = len(file[name]) - 1
        file[name][last] = other(file[name][last])
        element = last if file[name].ndim == 1 else file[name].size - 1
    reread = serial.start("h5py", *QUICK, *only, "--reread")
    assert reread.status == 1
    assert f"wrong data in {name}, element {element}" in reread.text


def other(value: Any) -> Any:
    """The same row, but for its last part."""
    if isinstance(value, bytes):
        return value[:-1] + b"!"
    if getattr(value, "dtype", None) is not None and value.dtype.names:
        value["count"] += 1
        return value
    changed: Array = np.array(value)
    changed.reshape(-1)[-1] += 1
    return changed


def test_a_file_of_other_sizes_is_told(kept: Bench) -> None:
    sizes = [*QUICK]
    sizes[1] = ROWS + 1
    sizes[9] = SLOW_ROWS + 1
    for case in CASES:
        reread = kept.start("h5py", *sizes, "--only", case, "--reread")
        assert reread.status == 1, case
        assert "has another shape than it was written with" in reread.text


@pytest.mark.parametrize("ranks", [1, 2])
def test_it_is_for_one_process(tmp_path: Any, ranks: int) -> None:
    bench = Bench(tmp_path, SERIAL, ranks)
    if ranks == 1:
        samples = bench.samples("h5py", *QUICK)
        assert {each["driver"] for each in samples} == {"sec2"}
        return
    done = bench.start("h5py", *QUICK)
    assert done.status != 0
    assert "this kernel is for one process" in done.text
    assert list(tmp_path.iterdir()) == []


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments in (("--rows", 0), ("--list", 0), ("--slow-columns", "x")):
        done = serial.start("h5py", *arguments)
        assert done.status == 2, done.text
        assert arguments[0] in done.text
