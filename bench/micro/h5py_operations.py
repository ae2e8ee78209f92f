"""The kernel's counterpart in h5py: a plain program that knows nothing of Headrace.

    h5py_operations.py FOLDER BATCHES NAME=CALLS/LIMIT...

takes and prints what main.cpp does.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py

VALUE = 42
# Prepares in a group of its own, for a number of calls; returns what is timed, and what is then
# true when all calls have had their effect.
Prepared = tuple[Callable[[int], None], Callable[[int], bool]]


def dataset_read(group: h5py.Group, _limit: int) -> Prepared:
    group["d"] = VALUE
    total = 0

    def run(_call: int) -> None:
        nonlocal total
        total += int(group["d"][()])

    return run, lambda calls: total == VALUE * calls


def dataset_create(group: h5py.Group, limit: int) -> Prepared:
    names = [str(i) for i in range(limit)]

    def run(call: int) -> None:
        group.create_dataset(names[call], data=VALUE)

    return run, lambda calls: len(group) == calls and group[names[calls - 1]][()] == VALUE


def attribute_read(group: h5py.Group, _limit: int) -> Prepared:
    group.attrs["a"] = VALUE
    total = 0

    def run(_call: int) -> None:
        nonlocal total
        total += int(group.attrs["a"])

    return run, lambda calls: total == VALUE * calls


OPERATIONS = {
    "dataset open+read": dataset_read,
    "dataset create": dataset_create,
    "attribute read": attribute_read,
}


def time_batch(file: h5py.File, name: str, number: int, calls: int, limit: int) -> float:
    run, effective = OPERATIONS[name](file.create_group(f"{name} {number}"), limit)
    start = time.perf_counter_ns()
    for call in range(calls):
        run(call)
    elapsed = time.perf_counter_ns() - start
    if not effective(calls):
        sys.exit(f"verification failed: {name}")
    return elapsed / calls


def main(folder: str, batches: str, *requests: str) -> None:
    times: dict[str, list[float]] = {}
    with h5py.File(f"{folder}/h5py.h5", "w") as file:
        for request in requests:
            name, _, counts = request.rpartition("=")
            calls, limit = map(int, counts.split("/"))
            times[name] = [
                time_batch(file, name, number, calls, limit) for number in range(int(batches))
            ]
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    libraries = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    print(
        json.dumps(
            {
                "hdf5": h5py.version.hdf5_version,
                "libraries": sorted(libraries),
                "nanoseconds": times,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
