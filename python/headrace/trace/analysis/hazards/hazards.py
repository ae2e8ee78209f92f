"""What ranks do to each other's elements with no flush between, and whether layers may wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.hazards import sweep
from headrace.trace.analysis.hazards.accesses import ACTS, READING, WRITING
from headrace.trace.analysis.hazards.gathering import gather
from headrace.trace.analysis.hazards.overlap import common, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.analysis.hazards.accesses import Accesses, Columns
    from headrace.trace.model.reader import Trace

RAW: Final = "read after write"
WAR: Final = "write after read"
WAW: Final = "write after write"
_BACK: Final = 16  # flushes, at most, by which a rank may be ahead of others


@dataclass(frozen=True)
class Hazard:
    """Calls of two ranks that have elements in common, one of which is no read.

    `kind` is one act after another: read, write, deletion of the dataset, cut of its extent. Of an
    `attribute` of the object `path`, writes are told that not all ranks make. The trace shows no
    flush or close by all ranks between the calls; `flushed`: each rank has flushed or closed the
    file between them, but not all had returned when the second call began. `elements` of the
    dataset are those of the first case, as slices of h5py. Where `certain` is False, a selection is
    a union or points, of which only the box around it is known, or a link was deleted whose name is
    not known. `together`: the second of these calls began before the first ended. `cases`: pairs
    of selections by two processes. `mpi_staging`, `mpi_logs`: whether what ranks then find may
    differ from what they find natively.
    """

    kind: str
    file: str
    path: str
    attribute: str
    elements: str
    certain: bool
    together: bool
    flushed: bool
    ranks: tuple[int, int]
    lines: tuple[str, str]  # FILE:NUMBER, or "" where it is not known
    cases: int
    mpi_staging: bool
    mpi_logs: bool


@dataclass(frozen=True)
class Hazards:
    """Of a trace, those of most cases first for each dataset.

    `files`: how many were opened by ranks together. `unknown`: transfers of them whose selection is
    not known, as with `level=profile`. `missing`: ranks of which there is no trace or not all.
    """

    found: tuple[Hazard, ...]
    files: int
    unknown: int
    missing: int

    def __iter__(self) -> Iterator[Hazard]:
        """The hazards."""
        return iter(self.found)

    def __len__(self) -> int:
        """How many there are; each may have several cases."""
        return len(self.found)


@dataclass
class _Cases:
    count: int
    first: int  # rows of the first one
    second: int


def find(trace: Trace) -> Hazards:
    """What to look at where a layer holds writes back.

    Flushes and closes are the only order that a trace shows: of barriers it knows nothing. Times of
    several hosts are compared as their clocks have it.
    """
    gathered = gather(trace)
    found = [
        each
        for accesses in gathered
        for each in sorted(_of(trace, gathered.lines, accesses), key=lambda one: -one.cases)
    ]
    ranks = [int(each.get("ranks", 0)) for one in trace.processes for each in one.storages.values()]
    missing = max(0, max(ranks, default=0) - len(trace.processes)) if gathered.files else 0
    missing += sum(bool(each.damage) for each in trace.processes)
    return Hazards(tuple(found), len(gathered.files), gathered.unknown, missing)


def _of(trace: Trace, lines: list[str], accesses: Accesses) -> Iterator[Hazard]:
    at, slabs = accesses.columns, accesses.slabs
    seen: dict[tuple[int, ...], _Cases] = {}
    for epoch, rows in _epochs(at):
        sides = sweep.boxes(slabs.take(rows))
        boxes = sweep.Boxes(*sides, at["owner"][rows], at["act"][rows] != READING)
        for one, other in sweep.pairs(boxes):
            first, second = rows[one], rows[other]
            # Two that are both of later epochs are met there.
            mine = np.minimum(at["epoch"][first], at["epoch"][second]) == epoch
            mine[mine] = overlap(slabs.take(first[mine]), slabs.take(second[mine]))
            _classify(at, first[mine], second[mine], seen)
    for key, cases in seen.items():
        yield _hazard(trace, lines, accesses, key, cases)


def _epochs(at: Columns) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Rows that no flush parts: of an epoch, and later ones that did not wait for its end."""
    times = at["epoch"] - np.maximum(at["since"], at["epoch"] - _BACK) + 1
    rows = np.repeat(np.arange(len(times)), times)
    ends = np.cumsum(times)
    epochs = at["epoch"][rows] - (ends[rows] - 1 - np.arange(len(rows)))
    order = np.argsort(epochs, kind="stable")
    rows, epochs = rows[order], epochs[order]
    cuts = np.flatnonzero(np.diff(epochs)) + 1
    for part, numbers in zip(np.split(rows, cuts), np.split(epochs, cuts), strict=True):
        if len(part) > 1:
            yield int(numbers[0]), part


def _classify(
    at: Columns,
    write: NDArray[np.int64],
    other: NDArray[np.int64],
    seen: dict[tuple[int, ...], _Cases],
) -> None:
    """Counts pairs of a write and another transfer by what they have in common."""
    met = (at["act"][write] == WRITING) | (at["act"][other] <= WRITING)  # changes are collective
    write, other = write[met], other[met]
    both = at["act"][other] != READING
    swapped = both & (at["first"][other] < at["first"][write])
    writes_first = ~both & (at["first"][write] < at["last"][other])
    reads_first = ~both & (at["first"][other] < at["last"][write])
    for rows, turned in (
        (writes_first, np.zeros(len(both), np.bool_)),
        (reads_first, np.ones(len(both), np.bool_)),
        (both, swapped),
    ):
        first = np.where(turned, other, write)[rows]
        second = np.where(turned, write, other)[rows]
        if not len(first):
            continue
        keys = np.stack(
            [
                at["act"][first],
                at["act"][second],
                at["line"][first],
                at["line"][second],
                (at["boxed"][first] | at["boxed"][second]) == 0,
                at["epoch"][first] != at["epoch"][second],
                at["settled"][first] >= at["settled"][second],
            ],
            axis=1,
        )
        unique, places, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
        for key, place, count in zip(
            unique.tolist(), places.tolist(), counts.tolist(), strict=True
        ):
            cases = seen.setdefault(
                tuple(map(int, key)),
                _Cases(0, int(first[place]), int(second[place])),
            )
            cases.count += count


def _hazard(
    trace: Trace, lines: list[str], accesses: Accesses, key: tuple[int, ...], cases: _Cases
) -> Hazard:
    act, then, before, after, certain, flushed, unsettled = key
    at = accesses.columns
    pair = np.array([cases.first]), np.array([cases.second])
    owners = [int(at["owner"][row][0]) for row in pair]
    # Layers hold back what is written to datasets. A read that is over has its values.
    waits = act == WRITING and not accesses.attribute
    return Hazard(
        f"{ACTS[then]} after {ACTS[act]}",
        accesses.file,
        accesses.path,
        accesses.attribute,
        common(*(accesses.slabs.take(row) for row in pair)),
        bool(certain),
        bool(at["end"][cases.first] > at["last"][cases.second]),
        bool(flushed),
        (_rank(trace, owners[0]), _rank(trace, owners[1])),
        (lines[before], lines[after]),
        cases.count,
        waits,
        waits and bool(unsettled) and then <= WRITING,
    )


def _rank(trace: Trace, place: int) -> int:
    rank = trace.processes[place].rank
    return rank if rank >= 0 else place
