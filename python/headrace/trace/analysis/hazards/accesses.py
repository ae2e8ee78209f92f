"""What ranks have read and written of each dataset of a parallel file, between which flushes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.grid import told
from headrace.trace.analysis.hazards.overlap import Slabs
from headrace.trace.model.process import line_of
from headrace.trace.model.seats import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.seats import Seat

READING, WRITING, CUTTING, DELETING = range(4)
ACTS: Final = ("read", "write", "cut", "deletion")
_FLUSH: Final = 0  # H5VL_FILE_FLUSH
_BOXED: Final = ("union", "points")
_SAME: Final = ("owner", "act", "shape", "start", "line", "epoch", "since", "settled")

Columns = dict[str, "NDArray[np.int64]"]


@dataclass
class Accesses:
    """Of one dataset or `attribute`: a row for what a process did alike between two flushes.

    `columns`: `owner`, the process's place in the trace; `act`, a place in `ACTS`; `boxed`, where
    only the box around the selection is known; `line`, a place in `Gathered.lines`; `epoch`, how
    many flushes and closes of the file by that process came before, and `since`, how many of these
    all processes had returned from; `settled`, the same with collective reads; `first` and `last`,
    when the first and the last of the row's calls began, `end`, when the first ended, in
    nanoseconds since 1970.
    """

    file: str
    path: str
    attribute: str
    columns: Columns
    slabs: Slabs


@dataclass
class Gathered:
    """Of a whole trace. `unknown`: transfers of parallel files whose selection is not known."""

    files: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=lambda: [""])
    unknown: int = 0
    # By file, path and attribute, which is "" for the dataset itself.
    parts: dict[tuple[str, str, str], list[tuple[Columns, Slabs]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def __iter__(self) -> Iterator[Accesses]:
        """Dataset by dataset, and attributes."""
        for (file, path, attribute), parts in self.parts.items():
            rank = max(slabs.start.shape[1] for _, slabs in parts)
            fit = [each for each in parts if each[1].start.shape[1] == rank]
            columns = {name: np.concatenate([part[name] for part, _ in fit]) for name in fit[0][0]}
            sides = ("start", "count", "stride", "block")
            slabs = Slabs(
                *(np.concatenate([getattr(part, side) for _, part in fit]) for side in sides)
            )
            yield Accesses(file, path, attribute, columns, slabs)


@dataclass
class User:
    """A process and what it calls a file; times are in nanoseconds since 1970, in their order."""

    seat: Seat
    place: int
    ids: list[int]
    clock: int  # the offset of the machine's

    @cached_property
    def mine(self) -> NDArray[np.bool_]:
        """Its calls on objects of the file that succeeded."""
        raw, wanted = self.seat.calls, set(self.ids)
        objects = [i for i, each in self.seat.process.objects.items() if each["file"] in wanted]
        here = np.isin(raw["object"], np.array(objects, np.int64))
        found: NDArray[np.bool_] = here & (raw["failed"] == 0)
        return found

    @cached_property
    def flushes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begins and ends of flushes and closes."""
        raw = self.seat.calls
        flush = self.seat.are(("file_specific",)) & (raw["operation"] == _FLUSH)
        rows = np.flatnonzero(self.mine & (flush | self.seat.are(("file_close",))))
        rows = rows[np.argsort(raw["begin"][rows], kind="stable")]
        begin = raw["begin"][rows] + self.clock
        return begin, begin + raw["duration"][rows]

    @cached_property
    def settles(self) -> NDArray[np.int64]:
        """Begins of flushes, closes and collective reads."""
        raw = self.seat.calls
        rows = np.flatnonzero(self.mine & self.seat.are((READ,)) & (raw["collective"] == 1))
        _, once = np.unique(raw["number"][rows], return_index=True)
        return np.sort(np.concatenate([self.flushes[0], raw["begin"][rows[once]] + self.clock]))


def add_transfers(
    found: Gathered,
    file: str,
    user: User,
    returned: NDArray[np.int64],
    places: dict[str, int],
) -> None:
    """Of one process and file; `returned`: when all had returned from each flush or close."""
    seat, raw = user.seat, user.seat.calls
    process = seat.process
    done = user.mine & seat.are((READ, WRITE))
    by_path: dict[str, list[int]] = defaultdict(list)
    for id_ in np.unique(raw["object"][done]).tolist():
        by_path[process.objects[id_]["path"]].append(id_)
    for path, objects in by_path.items():
        rows = np.flatnonzero(done & np.isin(raw["object"], np.array(objects, np.int64)))
        columns = _alike(columns_of(user, rows, returned, places, (WRITE,)))
        known, slabs, boxed = _slabs(seat, columns)
        found.unknown += int((~known).sum())
        some = known & (slabs.block > 0).all(axis=1) & (slabs.count > 0).all(axis=1)
        if some.any():
            kept = {name: values[some] for name, values in columns.items()}
            kept["boxed"] = boxed[some]
            found.parts[file, path, ""].append((kept, slabs.take(np.flatnonzero(some))))


def columns_of(
    user: User,
    rows: NDArray[np.int64],
    returned: NDArray[np.int64],
    places: dict[str, int],
    acts: Sequence[str],
) -> Columns:
    """All but `boxed`; calls of `acts` write."""
    raw, lines = user.seat.calls, user.seat.process.lines
    begin = raw["begin"][rows] + user.clock
    epoch = np.searchsorted(user.flushes[0], begin)
    ids, inverse = np.unique(raw["line"][rows], return_inverse=True)
    texts = [line_of(lines[i]) if i in lines else "" for i in ids.tolist()]
    numbers = np.array([places.setdefault(each, len(places)) for each in texts], np.int64)
    return {
        "owner": np.full(len(rows), user.place),
        "act": user.seat.are(acts)[rows].astype(np.int64),
        "shape": raw["file_shape"][rows],
        "start": raw["file_start"][rows],
        "line": numbers[inverse],
        "epoch": epoch,
        "since": np.minimum(epoch, np.searchsorted(returned, begin, side="right")),
        "settled": np.searchsorted(user.settles, begin, side="right"),
        "first": begin,
        "last": begin,
        "end": begin + raw["duration"][rows],
    }


def _alike(columns: Columns) -> Columns:
    """One row for those that differ in time only."""
    order = np.lexsort((columns["first"], *(columns[name] for name in reversed(_SAME))))
    ordered = {name: values[order] for name, values in columns.items()}
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([ordered[name][1:] != ordered[name][:-1] for name in _SAME], axis=0)
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(order)) - 1
    kept = {name: values[first] for name, values in ordered.items()}
    kept["last"] = ordered["last"][last]
    return kept


def _slabs(seat: Seat, columns: Columns) -> tuple[NDArray[np.bool_], Slabs, NDArray[np.int64]]:
    """Which selections are known, they themselves, and which are boxes around them.

    A dataset of no dimension has one of length 1.
    """
    ids, inverse = np.unique(columns["shape"], return_inverse=True)
    facts = [seat.process.shapes.get(id_, {}) for id_ in ids.tolist()]
    rank = max([1, *(len(each.get("dims", ())) for each in facts)])
    rows, known, boxed = [], [], []
    for each in facts:
        kind = each.get("kind", "")
        fact = {"kind": "all", "dims": [1]} if kind and not each["dims"] else each
        sides = [[1] * rank, [0] * rank, [1] * rank, [0] * rank]
        rows.append(sides if kind in ("", "none") else told(fact, rank))
        known.append(kind == "none" or (kind != "" and len(fact["dims"]) == rank))
        boxed.append(int(kind in _BOXED))
    table = np.array(rows, np.int64).reshape(len(ids), 4, rank)[inverse]
    start = np.empty((len(inverse), rank), np.int64)
    rest = columns["start"].copy()
    for axis in reversed(range(rank)):
        length = np.maximum(table[:, 0, axis], 1)
        start[:, axis] = rest % length
        rest //= length
    slabs = Slabs(start, table[:, 1], np.maximum(table[:, 2], 1), table[:, 3])
    return np.array(known, np.bool_)[inverse], slabs, np.array(boxed, np.int64)[inverse]
