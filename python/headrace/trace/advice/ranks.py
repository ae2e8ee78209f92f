"""A file for each process, or for each part of the data, with the same datasets in all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count
from headrace.trace.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.advice.evidence import is_python, line_with_most, times_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.advice.evidence import Run
    from headrace.trace.seats import Seat

_FILES: Final = 4
_AROUND: Final = (
    "file_create", "file_open", "file_close", "dataset_create", "dataset_open", "object_open",
    "dataset_get", "dataset_close",
)  # fmt: skip


def file_per_rank(run: Run) -> Iterator[Advice]:
    """Who reads them all opens each, whether it was this run or comes later."""
    of_paths: dict[frozenset[str], dict[str, float]] = defaultdict(dict)
    seat_of: dict[frozenset[str], Seat] = {}
    owners: dict[frozenset[str], set[int]] = defaultdict(set)
    for seat in run.trace.seats:
        for name, (paths, spent) in _files(seat).items():
            of_paths[paths][name] = max(spent, of_paths[paths].get(name, 0))
            seat_of[paths] = seat
            owners[paths].add(id(seat))
    for paths, files in of_paths.items():
        if len(files) < _FILES or not paths:
            continue
        seat = seat_of[paths]
        yield Advice(
            "file_per_rank",
            "all files",
            f"{count(len(files))} files, of {count(len(owners[paths]))} processes, have the same "
            f"{count(len(paths))} datasets in each",
            "Keep them in one file, with a part of each dataset for each process",
            Code(
                'h5py.File(name, "w", driver="mpio", comm=comm)',
                "H5Pset_fapl_mpio(fapl, comm, info)",
            ).of(python=is_python(seat)),
            sum(files.values()) * (1 - 1 / len(files)),
            "for a program that reads them all: the time to open and close them and their "
            "datasets, and of h5py after that, once instead, taken from this run",
            "processes that write one file at a time need an HDF5 with MPI, and may wait for each "
            f"other; {OTHER_FILE}",
            line_with_most(seat, np.flatnonzero(seat.are(("file_create", "file_open")))),
        )


def _files(seat: Seat) -> dict[str, tuple[frozenset[str], float]]:
    """By name: the paths of its datasets, and the seconds around opening and closing all of it."""
    process = seat.process
    rows = np.flatnonzero(seat.are(_AROUND))
    ids, places = np.unique(seat.calls["object"][rows], return_inverse=True)
    times = np.bincount(places, times_around(seat)[rows])
    spent = dict(zip(ids.tolist(), times.tolist(), strict=False))
    paths: dict[str, set[str]] = defaultdict(set)
    sums: dict[str, float] = defaultdict(float)
    for id_, about in process.objects.items():
        file = process.files.get(about["file"])
        if file is None or file["level"]:
            continue
        sums[file["name"]] += spent.get(id_, 0)
        if about["kind"] == "dataset":
            paths[file["name"]].add(about["path"])
    return {name: (frozenset(each), sums[name]) for name, each in paths.items()}
