"""Whether a replay has done to the storage what the program did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.trace.reader import Trace

_BILLION: Final = 1e9
_LONGEST: Final = 20000  # requests that are put beside each other; of more, places count
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


def requests(trace: Trace) -> list[Request]:
    """Those that reached the storage, in the order in which they began.

    HDF5 follows links by full names to files that a program has named by their last part.
    """
    seat = trace.seats[0]
    table = seat.requests
    order = np.argsort(table["begin"], kind="stable")
    files: dict[str, int] = {}
    full = sorted({each for each in seat.storages.values() if each.startswith("/")})
    rows = zip(
        *(table[name][order].tolist() for name in ("file", "kind", "type", "offset", "length")),
        strict=True,
    )
    found = []
    for file, kind, type_, offset, length in rows:
        name = seat.storages[file]
        same = next((each for each in full if each.endswith(f"/{name}")), name)
        number = files.setdefault(same, len(files))
        found.append((number, kind, type_, offset, length))
    return found


def seconds(trace: Trace) -> float:
    """That the program was in HDF5."""
    seat = trace.seats[0]
    return float(seat.calls["duration"][seat.top].sum()) / _BILLION


def likeness(recorded: Trace, replayed: Trace) -> Likeness:
    """Of two runs of one process each."""
    before, after = requests(recorded), requests(replayed)
    counts = [_calls(each) for each in (recorded, replayed)]
    return Likeness(
        len(before),
        len(after),
        _equal(before, after),
        _equal(*([(each[:3]) for each in some] for some in (before, after))),
        {name: counts[1][name] - counts[0][name]
         for name in sorted(counts[0].keys() | counts[1].keys())
         if counts[0][name] != counts[1][name]},
        seconds(recorded),
        seconds(replayed),
    )  # fmt: skip


def _equal(before: Sequence[tuple[int, ...]], after: Sequence[tuple[int, ...]]) -> int:
    if before == after:
        return len(before)
    if max(len(before), len(after)) > _LONGEST:
        return sum(a == b for a, b in zip(before, after, strict=False))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return sum(each.size for each in blocks)


def _calls(trace: Trace) -> Counter[str]:
    seat = trace.seats[0]
    return Counter(seat.process.callbacks[number] for number in seat.calls["callback"].tolist())
