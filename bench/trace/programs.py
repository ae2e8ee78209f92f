"""Programs with h5py as processes of their own: `python -m bench.trace.programs NAME PATH JSON`.

Their calls come from many lines, and most of them are small.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np


def tiny_datasets(file: h5py.File, count: int) -> None:
    for i in range(count):
        file[f"group{i % 10}/d{i}"] = i
    assert sum(file[f"group{i % 10}/d{i}"][()] for i in range(count)) == count * (count - 1) // 2


def attributes(file: h5py.File, count: int) -> None:
    groups = [file.create_group(f"g{i}") for i in range(count // 8)]
    for i in range(count):
        groups[i % len(groups)].attrs[f"a{i // len(groups)}"] = i
    assert all(int(group.attrs["a0"]) == i for i, group in enumerate(groups))


def rows(file: h5py.File, count: int) -> None:
    table = file.create_dataset("table", (count, 64), "f8")
    row = np.arange(64.0)
    for i in range(count):
        table[i] = row
    assert sum(table[i, 1] for i in range(0, count, 4)) == count // 4


def compressed_rows(file: h5py.File, count: int) -> None:
    table = file.create_dataset("table", (count, 512), "f8", chunks=(100, 512), compression=1)
    for i in range(count):
        table[i] = i
    assert sum(table[i, 0] for i in range(0, count, 4)) == sum(range(0, count, 4))


def long(file: h5py.File, count: int) -> None:
    """The same small read over and over."""
    file["x"] = np.arange(1000)
    read, value = file["x"].id.read, np.zeros(1000, "i8")
    for _ in range(count):
        read(h5py.h5s.ALL, h5py.h5s.ALL, value)
    assert value[999] == 999


PROGRAMS: dict[str, Callable[[h5py.File, int], None]] = {
    each.__name__.replace("_", "-"): each
    for each in (tiny_datasets, attributes, rows, compressed_rows, long)
}


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10


def main(name: str, path: str, text: str) -> None:
    given = json.loads(text)
    begin = time.perf_counter()
    with h5py.File(path, "w") as file:
        PROGRAMS[name](file, given["count"])
    seconds = time.perf_counter() - begin
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    answer = {
        "hdf5": h5py.version.hdf5_version,
        "write_wall": seconds,
        "memory": peak(),
        "headrace": sorted(file for file in files if file.startswith("libheadrace")),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever a library raises is the result
        sys.exit(f"{type(error).__name__}: {error}")
