"""Whether a replay has done to the storage what the program did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.model.seats import Seat

_BILLION: Final = 1e9
_LONGEST: Final = 20000  # requests that are put beside each other at a time
Request = tuple[int, int, int, int, int]  # file in order of opening, kind, type, offset, length


@dataclass(frozen=True)
class Likeness:
    """`equal`: requests of the same kind, type, offset and length in the same order."""

    requests: int
    replayed: int
    equal: int
    alike: int  # of the same kind and type in the same order
    calls: dict[str, int]  # how many more the replay has made, by callback; none that are as many
    seconds: float  # in HDF5, as recorded
    replayed_seconds: float

    @property
    def exact(self) -> bool:
        """Whether all requests are the program's, in order."""
        return self.requests == self.replayed == self.equal


def requests(seat: Seat) -> list[Request]:
    """Those that reached the storage, in the order in which they began.

    HDF5 follows links by full names to files that a program has named by their last part.
    """
    table = seat.requests
    order = np.argsort(table["begin"], kind="stable")
    same = _full_names(seat.storages)
    files: dict[str, int] = {}
    rows = zip(
        *(table[name][order].tolist() for name in ("file", "kind", "type", "offset", "length")),
        strict=True,
    )
    return [
        (files.setdefault(same[file], len(files)), kind, type_, offset, length)
        for file, kind, type_, offset, length in rows
    ]


def _full_names(storages: Mapping[int, str]) -> dict[int, str]:
    """Of each file the first full name that ends with its own, or its own."""
    ends: dict[str, str] = {}
    for name in sorted({each for each in storages.values() if each.startswith("/")}):
        parts = name.split("/")
        for first in range(1, len(parts)):
            ends.setdefault("/".join(parts[first:]), name)
    return {id_: ends.get(name, name) for id_, name in storages.items()}


def seconds(seat: Seat) -> float:
    """That the program was in HDF5."""
    return float(seat.calls["duration"][seat.top].sum()) / _BILLION


def likeness(recorded: Sequence[Seat], replayed: Sequence[Seat]) -> Likeness:
    """Of all processes, each with its own replay; seconds are those of the slowest.

    Where fewer have replayed them, requests are equal or alike that the program has made in
    whatever order and process.
    """
    if len(recorded) != len(replayed):
        return _likeness_of_fewer(recorded, replayed)
    each = [_likeness(*both) for both in zip(recorded, replayed, strict=True)]
    more: Counter[str] = Counter()
    for one in each:
        more.update(one.calls)
    return Likeness(
        sum(one.requests for one in each),
        sum(one.replayed for one in each),
        sum(one.equal for one in each),
        sum(one.alike for one in each),
        {name: times for name, times in sorted(more.items()) if times},
        max(one.seconds for one in each),
        max(one.replayed_seconds for one in each),
    )


def _likeness_of_fewer(recorded: Sequence[Seat], replayed: Sequence[Seat]) -> Likeness:
    before, after = ([each for seat in some for each in requests(seat)]
                     for some in (recorded, replayed))  # fmt: skip
    calls = sum((_calls(seat) for seat in replayed), Counter[str]())
    calls.subtract(sum((_calls(seat) for seat in recorded), Counter[str]()))
    return Likeness(
        len(before),
        len(after),
        (Counter(before) & Counter(after)).total(),
        (Counter(each[:3] for each in before) & Counter(each[:3] for each in after)).total(),
        {name: times for name, times in sorted(calls.items()) if times},
        max(map(seconds, recorded)),
        max(map(seconds, replayed)),
    )


def _likeness(recorded: Seat, replayed: Seat) -> Likeness:
    before, after = requests(recorded), requests(replayed)
    calls = _calls(replayed)
    calls.subtract(_calls(recorded))
    return Likeness(
        len(before),
        len(after),
        _equal(before, after),
        _equal(*([(each[:3]) for each in some] for some in (before, after))),
        calls,
        seconds(recorded),
        seconds(replayed),
    )


def _equal(before: Sequence[tuple[int, ...]], after: Sequence[tuple[int, ...]]) -> int:
    """Of those that are in both in the same order, as many as there can be.

    Sequences of more than `_LONGEST` are compared part by part, so that what one has more counts
    as different at the end of each part.
    """
    if before == after:
        return len(before)
    parts = range(0, min(len(before), len(after)), _LONGEST)
    return sum(_common(before[at : at + _LONGEST], after[at : at + _LONGEST]) for at in parts)


def _common(before: Sequence[tuple[int, ...]], after: Sequence[tuple[int, ...]]) -> int:
    """The length of the longest common subsequence, by the bits of integers (Hyyrö, 2004)."""
    places: dict[tuple[int, ...], int] = {}
    for place, each in enumerate(before):
        places[each] = places.get(each, 0) | 1 << place
    row = all_ = (1 << len(before)) - 1
    for each in after:
        matched = row & places.get(each, 0)
        row = ((row + matched) | (row - matched)) & all_
    return len(before) - row.bit_count()


def _calls(seat: Seat) -> Counter[str]:
    return Counter(seat.process.callbacks[number] for number in seat.calls["callback"].tolist())
