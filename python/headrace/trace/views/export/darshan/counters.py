"""What Darshan counts of reads and writes, by the arrays of a trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.views.export.darshan.log import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Values = dict[str, float]
Rows = dict[str, Any]  # columns, "end" among them, of one file or dataset; times as of the log
_BILLION: Final = 1e9
MOST_COMMON: Final = 4
_BLOCK: Final = 4096  # a trace does not know that of the file system; most have this
# The largest size of each of Darshan's classes but the last.
_SIZES: Final = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)


@dataclass
class Transfers:
    """Reads and writes of one file or dataset, in the order in which they began.

    Times are nanoseconds since the log's begin.
    """

    write: NDArray[np.bool_]
    begin: NDArray[np.int64]
    duration: NDArray[np.int64]
    size: NDArray[np.int64]


def grouped(
    table: Rows, keys: dict[int, Any], column: str, shift: int
) -> Iterator[tuple[Any, Rows]]:
    """The rows that did not fail, in order, by what `keys` has for the id in a column.

    Rows with other ids are left out; `shift` leads from the process's clock to the log's.
    """
    known = {key: i for i, key in enumerate(dict.fromkeys(keys.values()))}
    ids, inverse = np.unique(table[column], return_inverse=True)
    places = np.array([known.get(keys.get(int(id_)), -1) for id_ in ids], np.int64)
    of_rows = places[inverse.reshape(-1)]
    chosen = np.flatnonzero((of_rows >= 0) & (table["failed"] == 0))
    order = chosen[np.lexsort((table["begin"][chosen], of_rows[chosen]))]
    found, starts = np.unique(of_rows[order], return_index=True)
    names = list(known)
    for place, rows in zip(found.tolist(), np.split(order, starts[1:]), strict=False):
        columns = {name: values[rows] for name, values in table.items()}
        columns["begin"] = columns["begin"] + shift
        columns["end"] = columns["begin"] + columns["duration"]
        yield names[place], columns


def busy(begin: NDArray[np.int64], duration: NDArray[np.int64]) -> float:
    """Seconds within these intervals, each moment once, as Darshan adds up times."""
    if not len(begin):
        return 0.0
    order = np.argsort(begin, kind="stable")
    begin = begin[order]
    end = begin + duration[order]
    before = np.concatenate(([begin[0]], np.maximum.accumulate(end)[:-1]))
    return float(np.maximum(end - np.maximum(begin, before), 0).sum() / _BILLION)


def span(what: str, begin: NDArray[np.int64], end: NDArray[np.int64]) -> Values:
    """When the first of some began, and the last of them ended."""
    if not len(begin):
        return {}
    return {
        f"F_{what}_START_TIMESTAMP": begin.min() / _BILLION,
        f"F_{what}_END_TIMESTAMP": end.max() / _BILLION,
    }


def of_transfers(module: str, transfers: Transfers) -> Values:
    """The counters that files and datasets have in common."""
    values: Values = {"RW_SWITCHES": int(np.count_nonzero(np.diff(transfers.write)))}
    for what, done, chosen in (
        ("READ", "READ", ~transfers.write),
        ("WRITE", "WRITTEN", transfers.write),
    ):
        size, begin = transfers.size[chosen], transfers.begin[chosen]
        duration = transfers.duration[chosen]
        values |= {f"{what}S": len(size), f"BYTES_{done}": int(size.sum())}
        if not len(size):
            continue
        slowest = int(duration.argmax())
        values |= {
            f"MAX_{what}_TIME_SIZE": int(size[slowest]),
            f"F_MAX_{what}_TIME": duration[slowest] / _BILLION,
            f"F_{what}_TIME": busy(begin, duration),
            **span(what, begin, begin + duration),
        }
        classes = [name for name in names(module)[0] if name.startswith(f"{module}_SIZE_{what}_")]
        counts = np.bincount(np.searchsorted(_SIZES, size), minlength=len(classes))
        values |= {
            name.removeprefix(f"{module}_"): int(number)
            for name, number in zip(classes, counts, strict=True)
        }
    return values


def of_offsets(transfers: Transfers, offset: NDArray[np.int64]) -> Values:
    """The counters of where in a file requests went."""
    values: Values = {
        "FILE_ALIGNMENT": _BLOCK,
        "FILE_NOT_ALIGNED": int(np.count_nonzero(offset % _BLOCK)),
    }
    strides: Counter[int] = Counter()
    for what, done, chosen in (
        ("READ", "READ", ~transfers.write),
        ("WRITE", "WRITTEN", transfers.write),
    ):
        if not chosen.any():
            continue
        last = offset[chosen] + transfers.size[chosen] - 1
        gap = offset[chosen] - np.concatenate(([0], last[:-1])) - 1
        values |= {
            f"MAX_BYTE_{done}": int(last.max()),
            f"SEQ_{what}S": int(np.count_nonzero(gap >= 0)),
            f"CONSEC_{what}S": int(np.count_nonzero(gap == 0)),
        }
        strides.update(gap[gap > 0].tolist())
    accesses: Counter[int] = Counter(transfers.size.tolist())
    for name, counts in (("STRIDE", strides), ("ACCESS", accesses)):
        for i, (value, number) in enumerate(counts.most_common(MOST_COMMON), 1):
            values |= {f"{name}{i}_{name}": value, f"{name}{i}_COUNT": number}
    return values
