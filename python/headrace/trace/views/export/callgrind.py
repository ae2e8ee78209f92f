"""Where a program calls HDF5, for KCachegrind, QCachegrind and callgrind_annotate.

Costs stand at the lines of the program: nanoseconds in HDF5, calls and bytes. A "function" is a
callback of HDF5's on one object, as one line may work on many.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.views.output import private, replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from headrace.trace.model.process import Process
    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

_BILLION: Final = 1e9
_UNKNOWN: Final = "???", 0  # as callgrind names a file that it does not know
_EVENTS: Final = (
    ("ns", "nanoseconds in HDF5"), ("calls", "calls of HDF5"), ("bytes", "bytes read or written"),
)  # fmt: skip

Line = tuple[str, int]
Costs = dict[tuple[str, str], dict[int, "NDArray[np.int64]"]]  # by file and function, by line


def write(trace: Trace, path: Path) -> None:
    """Raises FileError."""
    costs: Costs = defaultdict(lambda: defaultdict(lambda: np.zeros(len(_EVENTS), np.int64)))
    for seat in trace.seats:
        _add(costs, seat)
    total = sum((cost for lines in costs.values() for cost in lines.values()), np.zeros(3, int))
    command = shlex.join(trace.processes[0].about.get("command", []))
    with replacing(path) as temporary, open(temporary, "w", opener=private) as out:
        out.write("# callgrind format\nversion: 1\ncreator: headrace\n")
        out.write(f"cmd: {_one_line(command)}\npositions: line\n")
        out.writelines(f"event: {name} : {words}\n" for name, words in _EVENTS)
        out.write(f"events: {' '.join(name for name, _ in _EVENTS)}\n")
        out.write(f"summary: {_numbers(total)}\n")
        for (file, function), lines in sorted(costs.items()):
            out.write(f"\nfl={_one_line(file)}\nfn={_one_line(function)}\n")
            for line, cost in sorted(lines.items()):
                out.write(f"{line} {_numbers(cost)}\n")


def _numbers(cost: NDArray[np.int64]) -> str:
    return " ".join(map(str, cost.tolist()))


def _one_line(text: str) -> str:
    """Paths may hold anything, this format knows no escapes."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _add(costs: Costs, seat: Seat) -> None:
    process, raw = seat.process, seat.calls
    nanoseconds = np.rint(seat.own * _BILLION).astype(np.int64)
    # The other rows of a transfer of several datasets are no further calls.
    calls = np.zeros(len(nanoseconds), np.int64)
    calls[np.unique(raw["number"], return_index=True)[1]] = 1
    keys = np.stack([_lines(process, raw["number"]), raw["callback"], raw["object"]], axis=1)
    unique, inverse = np.unique(keys, axis=0, return_inverse=True)
    sums = np.zeros((len(unique), len(_EVENTS)), np.int64)
    np.add.at(sums, inverse.reshape(-1), np.stack([nanoseconds, calls, raw["bytes"]], axis=1))
    for (line, callback, object_), cost in zip(unique.tolist(), sums, strict=True):
        file, at = _line(process, line)
        path = process.objects.get(object_, {}).get("path", "")
        function = f"{dict(enumerate(process.callbacks)).get(callback, '?')} {path}".rstrip()
        costs[file, function][at] += cost


def _line(process: Process, id_: int) -> Line:
    fact = process.lines.get(id_)
    return (fact["source"], int(fact["at"])) if fact else _UNKNOWN


def _lines(process: Process, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of calls within others: the line that has called the outermost."""
    raw = process.calls
    parent: dict[int, int] = dict(zip(raw["number"].tolist(), raw["parent"].tolist(), strict=True))
    line: dict[int, int] = dict(zip(raw["number"].tolist(), raw["line"].tolist(), strict=True))

    def outer(number: int) -> int:
        while not line[number] and parent[number] in line and parent[number] < number:
            number = parent[number]
        return line[number]

    return np.array([outer(number) for number in numbers.tolist()], np.int64)
