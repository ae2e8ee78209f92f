"""Too many files with the same datasets; and one file that ranks wait for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.analysis.advice.data import RAW
from headrace.trace.analysis.advice.process import (
    BILLION,
    is_netcdf,
    is_python,
    line_with_most,
    meet,
    times_around,
)
from headrace.units import count, rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.evidence import Run
    from headrace.trace.model.seats import Seat

_FILES: Final = 4
_LARGE: Final = 64 << 10  # bytes of a write
_MANY: Final = 16  # of those, of a rank
_WAITS: Final = 2.0  # times the time that a write takes by itself
_AROUND: Final = (
    "file_create", "file_open", "file_close", "dataset_create", "dataset_open", "object_open",
    "dataset_get", "dataset_close",
)  # fmt: skip


@dataclass
class _Alike:
    """Files with the same datasets: seconds around opening and closing each, and whose they are.

    `made`: those that a process of the run has made.
    """

    spent: dict[str, float] = field(default_factory=dict)
    owners: dict[str, Seat] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    @property
    def seats(self) -> list[Seat]:
        """The processes, each once."""
        return list({id(each): each for each in self.owners.values()}.values())

    @property
    def gain(self) -> float:
        """Seconds that one file in place of all would spare who reads them all."""
        return sum(self.spent.values()) * (1 - 1 / len(self.spent))

    @property
    def line(self) -> str:
        """Where one process opens them."""
        seat = self.seats[-1]
        return line_with_most(seat, np.flatnonzero(seat.are(("file_create", "file_open"))))


_ESTIMATE: Final = (
    "for a program that reads them all: the time to open and close them and their datasets, and "
    "of h5py after that, once instead, taken from this run"
)


def file_per_rank(run: Run) -> Iterator[Advice]:
    """Processes that make a file each: who reads them all opens each, in this run or later."""
    for datasets, alike in _alike(run):
        seats = alike.seats
        if len(seats) < 2 or not all(meet(each, seats[0]) for each in seats):
            continue  # they do not run together
        yield Advice(
            "file_per_rank",
            "all files",
            f"{count(len(alike.spent))} files, of {count(len(seats))} processes, have the same "
            f"{count(datasets)} datasets in each",
            "Keep them in one file, with a part of each dataset for each process; with MPI",
            Code(
                'h5py.File(name, "w", driver="mpio", comm=comm)',
                "H5Pset_fapl_mpio(fapl, comm, info)",
                'netCDF4.Dataset(name, "w", parallel=True, comm=comm), in C nc_create_par',
            ).of(python=is_python(seats[0]), netcdf=is_netcdf(seats[0])),
            alike.gain,
            _ESTIMATE,
            "processes that write one file at a time need an HDF5 with MPI, and may wait for each "
            f"other; {OTHER_FILE}",
            alike.line,
        )


def files_alike(run: Run) -> Iterator[Advice]:
    """Files that one process opens one after the other for the same datasets, to read them."""
    for datasets, alike in _alike(run):
        seats = alike.seats
        if len(seats) > 1 or len(alike.made) == len(alike.spent):
            continue
        yield Advice(
            "files_alike",
            "all files",
            f"{count(len(alike.spent))} files have the same {count(datasets)} datasets in each, "
            "and one process opens them all",
            "Keep what is read together in one file, with one dimension more for what was a file",
            Code(
                f"file.create_dataset(name, ({len(alike.spent)}, *shape), dtype)",
                f"one H5Dcreate with a dimension of {len(alike.spent)} more",
                "createVariable(name, type, (one_more, *dimensions))",
            ).of(python=is_python(seats[0]), netcdf=is_netcdf(seats[0])),
            alike.gain,
            _ESTIMATE,
            f"one file cannot be handed on in parts; {OTHER_FILE}",
            alike.line,
        )


def _alike(run: Run) -> Iterator[tuple[int, _Alike]]:
    """Several files with the same datasets, and how many these are."""
    found: dict[frozenset[str], _Alike] = defaultdict(_Alike)
    for seat in run.trace.seats:
        created = {e["name"] for e in seat.process.files.values() if e.get("created", False)}
        for name, (paths, spent) in _files(seat).items():
            alike = found[paths]
            alike.spent[name] = max(spent, alike.spent.get(name, 0))
            alike.owners[name] = seat
            alike.made |= {name} & created
    for paths, alike in found.items():
        if paths and len(alike.spent) >= _FILES:
            yield len(paths), alike


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


def shared_file(run: Run) -> Iterator[Advice]:
    """Large writes of ranks to one file that take long while others write to it, too."""
    files: dict[str, list[_Writes]] = defaultdict(list)
    for seat in run.trace.seats:
        for id_, storage in seat.storages.items():
            over_mpi = int(seat.process.storages[id_].get("ranks", -1)) > 1
            if over_mpi and len((found := _Writes(seat, id_)).rows) >= _MANY:
                files[storage].append(found)
    for name, all_ in files.items():
        if len(all_) < 2:
            continue
        by_itself = max(each.fast for each in all_)
        meets = [each.beside([other for other in all_ if other is not each]) for each in all_]
        waits = [float((each.spent[beside] - each.bytes[beside] / by_itself).sum())
                 for each, beside in zip(all_, meets, strict=True)]  # fmt: skip
        worst = max(range(len(all_)), key=lambda i: waits[i])
        mine, beside = all_[worst], meets[worst]
        if not beside.any():
            continue
        now = float(mine.bytes[beside].sum() / mine.spent[beside].sum())
        if by_itself < _WAITS * now:
            continue
        yield Advice(
            "shared_file",
            PurePath(name).name,
            f"{count(len(all_))} ranks write to it at the same time, by {rate(now)} each, where "
            f"the fastest tenth of their writes makes {rate(by_itself)}",
            "Have the layer `stripe` deal the file out to several, which ranks need not wait for",
            "headrace run --stack 'stripe(per=rank)' -- PROGRAM",
            waits[worst],
            "the time of writes beside those of other ranks, less what they would take at the rate "
            "of the fastest tenth",
            "the file lies in pieces until `headrace fuse` makes one of them; where the storage "
            "itself is the limit nothing is gained, which `headrace report --replay` tells; on "
            "Lustre more targets may gain as much (tune(striping_factor=N))",
            stack="stripe(per=rank)",
        )


class _Writes:
    """A rank's large writes of its own to a file: nanoseconds since 1970, bytes and seconds."""

    def __init__(self, seat: Seat, file: int) -> None:
        raw = seat.requests
        large = (raw["file"] == file) & (raw["type"] == RAW) & (raw["kind"] == 1)
        large &= (raw["length"] >= _LARGE) & (raw["collective"] == 0) & (raw["failed"] == 0)
        self.rows = np.flatnonzero(large & (raw["duration"] > 0))
        self.begin = raw["begin"][self.rows].astype(np.int64) + seat.process.clock_offset
        self.end = self.begin + raw["duration"][self.rows].astype(np.int64)
        self.bytes = raw["length"][self.rows].astype(np.float64)
        self.spent = raw["duration"][self.rows] / BILLION

    @property
    def fast(self) -> float:
        """Bytes a second of the fastest tenth."""
        return float(np.quantile(self.bytes / self.spent, 0.9))

    def beside(self, others: Sequence[_Writes]) -> NDArray[np.bool_]:
        """Which of them were made while one of the others was."""
        begins = np.sort(np.concatenate([each.begin for each in others]))
        ends = np.sort(np.concatenate([each.end for each in others]))
        # More have begun before this ends than have ended before it begins.
        begun = np.searchsorted(begins, self.end, "left")
        return begun > np.searchsorted(ends, self.begin, "right")
