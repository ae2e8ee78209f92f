"""Asynchronous reads and writes: small ones are carried out together, large reads by workers."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.prefix import ROOT, Hdf5
from harness.run import Result, run
from harness.stack import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

BUILD = ROOT / "build/dev"
DATASETS, ROWS, COLUMNS, LARGE = 4, 48, 80, 65536
NATIVE = "under_vol=0;under_info={}"
DELAY = "mode=delay;preset=none;servers=1;bandwidth=1GiB;latency=300us"
SLOW = f"under_vol=7202;under_info={{{DELAY};{NATIVE}}}"


def program(hdf5: Hdf5, folder: Path, *words: str, below: str | None = NATIVE) -> Result:
    """Runs it under the async layer with `below` under that; natively for None."""
    env = {**CLEAN, "HEADRACE_REPORT": str(folder / "report")}
    if below is not None:
        env |= {
            "HDF5_PLUGIN_PATH": str(BUILD / "lib/plugins"),
            "HDF5_VOL_CONNECTOR": f"headrace_async {below}",
        }
    command: list[str | Path] = [BUILD / f"tests/async/requests_{hdf5.mpi}"]
    command += [folder / "x.h5", *words]
    return run(command, env=env, cwd=folder, limit=120)


def told(folder: Path, name: str) -> int:
    """A statistic of the last run, which went through both seats."""
    lines = [json.loads(line) for line in (folder / "report").read_text().splitlines()]
    loaded = {line["seat"] for line in lines if line["event"] == "load"}
    assert loaded == {"vol", "vfd"}
    values = [line["values"] for line in lines if line["event"] == "statistics"]
    return int(sum(one.get(name, 0) for one in values))


def check_file(folder: Path) -> None:
    """By the wheel's HDF5, with no plug-in: the datasets are those of the program's model."""
    model = np.fromfile(folder / "x.h5.model", "int32").reshape(DATASETS, ROWS, COLUMNS)
    with h5py.File(folder / "x.h5") as file:
        for i in range(len(file)):
            assert np.array_equal(file[f"d{i}"][:], model[i]), f"d{i}"


# Reads that are fast are not put together for long.
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(hdf5: Hdf5, tmp_path: Path, seed: int) -> None:
    done = program(hdf5, tmp_path, "random", str(seed), below=SLOW if seed % 2 == 0 else NATIVE)
    assert done.status == 0, done.text
    assert seed % 2 != 0 or told(tmp_path, "requests_merged") > 0
    check_file(tmp_path)


def test_random_programs_fit_native(hdf5: Hdf5, tmp_path: Path) -> None:
    done = program(hdf5, tmp_path, "random", "1", below=None)
    assert done.status == 0, done.text
    check_file(tmp_path)


@pytest.mark.parametrize("what", ["rows", "ends_first"])
def test_rows_become_one(hdf5: Hdf5, tmp_path: Path, what: str) -> None:
    done = program(hdf5, tmp_path, what)
    assert done.status == 0, done.text
    # The dataset whose numbers are converted does not wait.
    assert told(tmp_path, "requests_merged") == (2 if what == "rows" else 1) * ROWS * (DATASETS - 1)
    check_file(tmp_path)


def test_a_request_is_taken_back(hdf5: Hdf5, tmp_path: Path) -> None:
    done = program(hdf5, tmp_path, "cancels")
    assert done.status == 0, done.text
    check_file(tmp_path)


def test_each_request_has_its_error(hdf5: Hdf5, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["d0"] = np.arange(ROWS * COLUMNS, dtype="int32").reshape(ROWS, COLUMNS)
    fault = "kind=error;op=read;type=raw;count=0;errno=EIO"
    below = f"under_vol=7204;under_info={{{fault};{NATIVE}}}"
    done = program(hdf5, tmp_path, "fails", below=below)
    text = done.out.decode()
    assert "injected" in text, done.text
    assert "x.h5" in text
    assert "errno" in text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("what", "behind"), [("large", "read_behind_bytes"), ("large_chunks", "chunks_decoded_behind")]
)
def test_large_reads_go_on_beside_the_program(
    hdf5: Hdf5, tmp_path: Path, seed: int, what: str, behind: str
) -> None:
    done = program(hdf5, tmp_path, what, str(seed))
    assert done.status == 0, done.text
    assert told(tmp_path, behind) > 0


def damaged(folder: Path, *, odd: bool = False) -> None:
    """A file with the datasets d, whose chunk 20 is damaged, and e, of which it may be odd."""
    data = np.arange(ROWS * LARGE, dtype="int32").reshape(ROWS, LARGE)
    shape = {"chunks": (1, LARGE), "maxshape": (None, LARGE)}
    with h5py.File(folder / "x.h5", "w") as file:
        for name in ("d", "e"):
            file.create_dataset(name, data=data, compression="gzip", **shape)
        if odd:
            longer = zlib.compress(data[20].tobytes() + bytes(4))
            file["e"].id.write_direct_chunk((20, 0), longer)
        place = file["d"].id.get_chunk_info(20).byte_offset
    with (folder / "x.h5").open("r+b") as raw:
        raw.seek(place + 1000)
        raw.write(bytes(100))


WAYS = ["damaged", "damaged_closed", "damaged_written", "damaged_shrunk"]


@pytest.mark.parametrize("what", WAYS)
def test_a_damaged_chunk_fails_its_request(hdf5: Hdf5, tmp_path: Path, what: str) -> None:
    """What cannot be decoded behind the program HDF5 reads itself, and tells what is wrong."""
    damaged(tmp_path)
    done = program(hdf5, tmp_path, what)
    assert done.status == 0, done.text
    assert told(tmp_path, "chunks_decoded_behind") == 2 * ROWS
    assert "filter" in done.out.decode(), done.text


@pytest.mark.parametrize("what", WAYS)
def test_a_chunk_of_another_size_is_read_by_hdf5(hdf5: Hdf5, tmp_path: Path, what: str) -> None:
    """HDF5 reads a chunk that holds more than its elements; the codecs here do not."""
    damaged(tmp_path, odd=True)
    done = program(hdf5, tmp_path, what)
    assert done.status == 0, done.text


def test_another_dataset_takes_the_place_of_one_that_is_read(hdf5: Hdf5, tmp_path: Path) -> None:
    data = np.arange(ROWS * LARGE, dtype="int32").reshape(ROWS, LARGE)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("d", data=data, chunks=(1, LARGE), compression="gzip")
    done = program(hdf5, tmp_path, "deleted")
    assert done.status == 0, done.text
    assert told(tmp_path, "chunks_decoded_behind") > ROWS
    with h5py.File(tmp_path / "x.h5") as file:
        assert np.array_equal(file["d"][...], data)
