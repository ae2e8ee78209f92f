"""Explicit asynchronous calls: buffers are lent, not copied, and errors reach the event set."""

from __future__ import annotations

import json
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
ROWS, COLUMNS, BLOCKS = 64, 65536, 16
# So slow that a write is still under way when the next call looks.
SLOW = "mode=delay;preset=none;servers=1;bandwidth=50MiB;latency=1ms"


def event_sets(hdf5: Hdf5, folder: Path, what: str, below: str | None) -> Result:
    """Runs the program under the async layer with `below` under that; natively for None."""
    program = BUILD / f"tests/async/event_sets_{hdf5.mpi}"
    env = {**CLEAN, "HEADRACE_REPORT": str(folder / "report")}
    if below is not None:
        env |= {
            "HDF5_PLUGIN_PATH": str(BUILD / "lib/plugins"),
            "HDF5_VOL_CONNECTOR": f"headrace_async {below}",
        }
    return run([program, folder / "x.h5", what], env=env, cwd=folder, limit=60)


NATIVE = "under_vol=0;under_info={}"
BELOW = {
    "disk": NATIVE,
    "slow": f"under_vol=7202;under_info={{{SLOW};{NATIVE}}}",
}


def loaded(folder: Path) -> set[str]:
    lines = [json.loads(line) for line in (folder / "report").read_text().splitlines()]
    return {f"{line['seat']} {line['name']}" for line in lines if line["event"] == "load"}


def value(block: int, i: np.ndarray) -> np.ndarray:
    return (block * 7919 + i * 31).astype("int32")


def data_of(path: Path) -> np.ndarray:
    """By the wheel's HDF5, with no plug-in."""
    with h5py.File(path) as file:
        return np.asarray(file["d"][:]).reshape(-1)


@pytest.mark.parametrize("below", [*BELOW, None])
def test_lent_buffers(hdf5: Hdf5, tmp_path: Path, below: str | None) -> None:
    done = event_sets(hdf5, tmp_path, "lend", None if below is None else BELOW[below])
    assert done.status == 0, done.text
    assert done.out.decode().split() == ["requests", "none" if below is None else "some"]
    each = ROWS * COLUMNS // BLOCKS
    expected = np.concatenate([value(block, np.arange(each)) for block in range(BLOCKS)])
    for name in ("x.h5", "x.h5.second"):
        assert np.array_equal(data_of(tmp_path / name), expected)
    if below is not None:
        assert {"vol headrace_async", "vfd headrace_async"} <= loaded(tmp_path)


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("what", ["offsets", "close_first"])
def test_bytes(hdf5: Hdf5, tmp_path: Path, what: str, below: str) -> None:
    done = event_sets(hdf5, tmp_path, what, BELOW[below])
    assert done.status == 0, done.text
    i = np.arange(ROWS * COLUMNS)
    if what == "offsets":
        inside = (i >= 3 * COLUMNS) & (i < 7 * COLUMNS)
        expected = np.where(inside, value(2, i - 3 * COLUMNS + 12345), value(1, i))
    else:
        expected = value(5, i)
    assert np.array_equal(data_of(tmp_path / "x.h5"), expected)


def test_limited_waits(hdf5: Hdf5, tmp_path: Path) -> None:
    done = event_sets(hdf5, tmp_path, "limits", BELOW["slow"])
    assert done.status == 0, done.text
    assert done.out.decode() == "after a microsecond some\n"
    assert np.array_equal(data_of(tmp_path / "x.h5"), value(6, np.arange(ROWS * COLUMNS)))


@pytest.mark.parametrize(
    ("below", "told", "attempts"),
    [("disk", "at once", 20), ("slow", "requests", 1)],  # a busy machine is as slow at times
)
def test_reads_as_fast_as_memory_are_made_at_once(
    hdf5: Hdf5, tmp_path: Path, below: str, told: str, attempts: int
) -> None:
    def tells() -> str:
        # What is read ahead is as fast.
        done = event_sets(hdf5, tmp_path, "paces", f"read_ahead=0;{BELOW[below]}")
        assert done.status == 0, done.text
        return done.out.decode().strip()

    assert any(tells() == told for _ in range(attempts))


def test_a_failed_read_is_told_with_its_cause(hdf5: Hdf5, tmp_path: Path) -> None:
    rows = np.arange(256 * 1024, dtype="i4").reshape(256, 1024)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        made = {"chunks": (1, 1024), "compression": 1}
        dataset = file.create_dataset("d", data=rows, **made)
        place = dataset.id.get_chunk_info_by_coord((255, 0)).byte_offset
    with (tmp_path / "x.h5").open("r+b") as raw:
        raw.seek(place)
        raw.write(b"nonsense")
    done = event_sets(hdf5, tmp_path, "damaged", NATIVE)
    assert done.status == 0, done.text
    assert "filter returned failure" in done.out.decode()
    assert {"vol headrace_async", "vfd headrace_async"} <= loaded(tmp_path)


def test_a_failed_write_is_told_by_the_event_set(hdf5: Hdf5, tmp_path: Path) -> None:
    # The first write is that of the superblock, when the file is created.
    fault = "kind=error;op=write;first=2;count=0;errno=ENOSPC"
    below = f"under_vol=7204;under_info={{{fault};{NATIVE}}}"
    done = event_sets(hdf5, tmp_path, "fails", below)
    assert done.status == 0, done.text
    text = done.out.decode()
    assert "failed: H5Dwrite_async" in text
    assert "ENOSPC" in text
    assert "x.h5" in text
    assert "flush fails" in text
