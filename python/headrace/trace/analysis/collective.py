"""Collective transfers that HDF5 has carried out otherwise, and why."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.trace.model.seats import Seat

# The bits of H5D_mpio_no_collective_cause_t (H5Ppublic.h).
CAUSES: Final = {
    0x01: "some rank asked for an independent transfer",
    0x02: "elements are converted to another type",
    0x04: "a data transform is set",
    0x08: "HDF5_MPI_OPT_TYPES is off",
    0x10: "a dataspace is neither simple nor scalar",
    0x20: "the dataset is neither contiguous nor chunked",
    0x40: "this HDF5 cannot write filtered chunks together",
    0x80: "HDF5 failed to find out whether it can",
    0x100: "selection I/O is off",
}


@dataclass(frozen=True)
class Broken:
    """Transfers of one dataset, of all ranks: `calls` of them, `bytes` of the program's memory."""

    path: str
    why: str
    calls: int
    bytes: int


def reasons(cause: int) -> str:
    """Of a number that H5Pget_mpio_no_collective_cause gives, in words."""
    known = [words for bit, words in CAUSES.items() if cause & bit]
    return ", and ".join(known) or f"cause {cause:#x}"


def broken(seats: Sequence[Seat]) -> list[Broken]:
    """What ranks asked for together and HDF5 made of each of them alone, the most bytes first."""
    sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    for seat in seats:
        raw = seat.calls
        rows = (raw["collective"] != 0) & (raw["no_collective_cause"] != 0)
        keys = np.stack([raw["object"][rows], raw["no_collective_cause"][rows]], axis=1)
        unique, inverse = np.unique(keys, axis=0, return_inverse=True)
        calls = np.bincount(inverse.reshape(-1), raw["count"][rows], len(unique))
        moved = np.bincount(inverse.reshape(-1), raw["bytes"][rows], len(unique))
        for (object_, cause), *values in zip(
            unique.tolist(), calls.tolist(), moved.tolist(), strict=True
        ):
            path = seat.process.objects.get(object_, {}).get("path", "?")
            sums[path, cause] = [int(a + b) for a, b in zip(sums[path, cause], values, strict=True)]
    found = [Broken(path, reasons(cause), *values) for (path, cause), values in sums.items()]
    return sorted(found, key=lambda each: -each.bytes)
