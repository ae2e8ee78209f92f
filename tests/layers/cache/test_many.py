"""Many datasets in a file, and many files in turn: what each leaves behind does not add up."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import Options
from harness.seed import LONG
from layers.cache.node import Cache

from headrace.cache.store import read_store

DATASETS = 100_000 if LONG else 2000
ELEMENTS = 12
LIMIT = 900 if LONG else 90  # seconds
PLAIN: list[dict[str, Any]] = [{}, {"chunks": (5,)}]
SMALL: dict[str, Any] = {"chunks": (5,), "compression": 1}
LARGE: dict[str, Any] = {"chunks": (600,), "maxshape": (None,), "compression": 1}  # over a page
CONTIGUOUS = "memory=64MiB;settle=0;contiguous=true;"


def make_datasets(folder: Path, kinds: list[dict[str, Any]]) -> None:
    """Of these kinds by turns."""
    with h5py.File(folder / "x.h5", "w", libver="latest") as f:
        for i in range(DATASETS):
            f.create_dataset(str(i), data=np.arange(i, i + ELEMENTS), **kinds[i % len(kinds)])


def own_memory() -> int:
    """Bytes that this process has alone: not the shared ones, which have a bound of their own."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) << 10


def read_datasets(count: int, elements: int) -> None:
    """Tells by how much the process has grown since it had read a tenth of them.

    HDF5's own cache stays as large as it is: it would grow by how often HDF5 is asked for anything.
    """
    with h5py.File("x.h5", "r") as f:
        config = f.id.get_mdc_config()
        config.incr_mode = config.flash_incr_mode = config.decr_mode = 0
        f.id.set_mdc_config(config)
        for i in range(count):
            assert (f[str(i)][:elements] == np.arange(i, i + elements)).all(), i
            if i == count // 10:
                before = own_memory()
        print(own_memory() - before)


def grown(cache: Cache, options: Options, elements: int = ELEMENTS) -> int:
    program = partial(read_datasets, DATASETS, elements)
    return int(cache.python(program, options, LIMIT).out)


def test_datasets_that_were_read_take_no_memory(cache: Cache) -> None:
    """Of the process, which natively grows by what HDF5 keeps of the file."""
    make_datasets(cache.folder, [*PLAIN, LARGE])
    natively = grown(cache, None)
    assert grown(cache, ...) - natively < (1 << 20) + 100 * DATASETS
    assert cache.counted("chunks_cached") == DATASETS // 3  # of the compressed ones alone


@pytest.mark.parametrize(
    ("options", "elements"),
    [(..., ELEMENTS), (CONTIGUOUS, ELEMENTS // 2)],
)
def test_what_has_no_filters_or_is_small_leaves_nothing_for_each(
    cache: Cache, options: Options, elements: int
) -> None:
    """In the memory that is shared: neither a chunk, nor a note that one was used."""
    make_datasets(cache.folder, [*PLAIN, SMALL])
    grown(cache, options, elements)
    assert cache.counted("chunks_cached") == 0
    store = read_store(cache.shared / "chunks-2")
    assert store is None or store.taken < 1 << 20


FILES = 1000
ROWS = 60


def make_files(folder: Path) -> None:
    for i in range(FILES):
        with h5py.File(folder / f"{i}.h5", "w", libver="latest") as f:
            data = np.arange(i, i + 10 * ROWS)
            f.create_dataset("d", data=data, chunks=(ROWS,), compression=1)


def left_behind(folders: list[str]) -> list[int]:
    """Descriptors, mappings, and entries of the folders that chunks are kept in."""
    return [
        len(list(Path("/proc/self/fd").iterdir())),
        len(Path("/proc/self/maps").read_text().splitlines()),
        sum(len(list(Path(folder).iterdir())) for folder in folders),
    ]


def read_files(folders: list[str]) -> None:
    for i in range(FILES):
        with h5py.File(f"{i}.h5", "r") as f:
            assert (f["d"][...] == np.arange(i, i + 10 * ROWS)).all(), i
            assert (f["d"][ROWS : ROWS + 5] == np.arange(i + ROWS, i + ROWS + 5)).all()
        if i == FILES // 10:
            before = left_behind(folders)
    print(*before)
    print(*left_behind(folders))


def test_files_in_turn_leave_nothing_open(cache: Cache) -> None:
    """Nor mapped; and nothing of their own beside the files that all chunks are in."""
    make_files(cache.folder)
    folders = [str(cache.shared), str(cache.folder / f"headrace-{os.geteuid()}")]
    options = f"{cache.usual}path={cache.folder};size=16MiB;"
    told = cache.python(partial(read_files, folders), options).out
    before, after = (list(map(int, line.split())) for line in told.splitlines())
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 10  # threads and malloc() may take a few at any time
    assert after[2] == before[2] == 3
    assert cache.counted("cache_hits") >= FILES
