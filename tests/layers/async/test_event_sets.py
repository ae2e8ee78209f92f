"""Explicit asynchronous calls: buffers are lent, not copied, and errors reach the event set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.layer import NATIVE_BELOW, Options, async_over

if TYPE_CHECKING:
    from pathlib import Path

    from harness.layer import Layer
    from harness.prefix import Hdf5

pytestmark = pytest.mark.threads

ROWS, COLUMNS, BLOCKS = 64, 65536, 16
# In microseconds, a read that the layer must take for one of memory: it does so below 100.
FAST = 40
# So slow that a write is still under way when the next call looks.
SLOW = "mode=delay;preset=none;servers=1;bandwidth=50MiB;latency=1ms"
BELOW = {
    "disk": NATIVE_BELOW,
    "slow": f"under_vol=7202;under_info={{{SLOW};{NATIVE_BELOW}}}",
}


def event_sets(layer: Layer, hdf5: Hdf5, what: str, options: Options = ...) -> str:
    """What the program tells; it must succeed."""
    program = built(f"tests/layers/async/event_sets_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", what], options, limit=60)
    assert done.status == 0, done.text
    return done.out.decode()


def value(block: int, i: np.ndarray) -> np.ndarray:
    return (block * 7919 + i * 31).astype("int32")


def data_of(path: Path) -> np.ndarray:
    """By the wheel's HDF5, with no plug-in."""
    with h5py.File(path) as file:
        return np.asarray(file["d"][:]).reshape(-1)


@pytest.mark.parametrize("below", [*BELOW, None])
def test_lent_buffers(hdf5: Hdf5, tmp_path: Path, below: str | None) -> None:
    layer = async_over(tmp_path, NATIVE_BELOW if below is None else BELOW[below])
    told = event_sets(layer, hdf5, "lend", None if below is None else ...)
    assert told.split() == ["requests", "none" if below is None else "some"]
    each = ROWS * COLUMNS // BLOCKS
    expected = np.concatenate([value(block, np.arange(each)) for block in range(BLOCKS)])
    for name in ("x.h5", "x.h5.second"):
        assert np.array_equal(data_of(tmp_path / name), expected)


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("what", ["offsets", "close_first"])
def test_bytes(hdf5: Hdf5, tmp_path: Path, what: str, below: str) -> None:
    event_sets(async_over(tmp_path, BELOW[below]), hdf5, what)
    i = np.arange(ROWS * COLUMNS)
    if what == "offsets":
        inside = (i >= 3 * COLUMNS) & (i < 7 * COLUMNS)
        expected = np.where(inside, value(2, i - 3 * COLUMNS + 12345), value(1, i))
    else:
        expected = value(5, i)
    assert np.array_equal(data_of(tmp_path / "x.h5"), expected)


def test_limited_waits(hdf5: Hdf5, tmp_path: Path) -> None:
    told = event_sets(async_over(tmp_path, BELOW["slow"]), hdf5, "limits")
    assert told == "after a microsecond some\n"
    assert np.array_equal(data_of(tmp_path / "x.h5"), value(6, np.arange(ROWS * COLUMNS)))


@pytest.mark.plain  # code under a sanitizer is slower than memory
@pytest.mark.parametrize(("below", "told"), [("disk", "at once"), ("slow", "requests")])
def test_reads_as_fast_as_memory_are_made_at_once(
    hdf5: Hdf5, tmp_path: Path, below: str, told: str
) -> None:
    layer = async_over(tmp_path, BELOW[below])
    # What is read ahead is as fast.
    found, microseconds = event_sets(layer, hdf5, "paces", "read_ahead=0;").splitlines()
    if below == "disk" and float(microseconds) > FAST:
        pytest.skip(f"this machine's memory answers a read in {microseconds} microseconds")
    assert found == told


def test_a_failed_read_is_told_with_its_cause(hdf5: Hdf5, layer: Layer) -> None:
    rows = np.arange(256 * 1024, dtype="i4").reshape(256, 1024)
    with h5py.File(layer.folder / "x.h5", "w") as file:
        made = {"chunks": (1, 1024), "compression": 1}
        dataset = file.create_dataset("d", data=rows, **made)
        place = dataset.id.get_chunk_info_by_coord((255, 0)).byte_offset
    with (layer.folder / "x.h5").open("r+b") as raw:
        raw.seek(place)
        raw.write(b"nonsense")
    assert "filter returned failure" in event_sets(layer, hdf5, "damaged")


def test_a_failed_write_is_told_by_the_event_set(hdf5: Hdf5, tmp_path: Path) -> None:
    # The first write is that of the superblock, when the file is created.
    fault = "kind=error;op=write;first=2;count=0;errno=ENOSPC"
    layer = async_over(tmp_path, f"under_vol=7204;under_info={{{fault};{NATIVE_BELOW}}}")
    text = event_sets(layer, hdf5, "fails")
    assert "failed: H5Dwrite_async" in text
    assert "ENOSPC" in text
    assert "x.h5" in text
    assert "flush fails" in text
