"""The same data read again: by a process, and by each of several."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.trace.analysis.advice.data import COPIED
from headrace.trace.analysis.advice.process import BETWEEN, meet, spent_around
from headrace.trace.model.seats import READ
from headrace.units import count, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data
    from headrace.trace.analysis.advice.evidence import Run

_MEMORY: Final = 1 << 30  # bytes that a program may be advised to keep
_RANKS: Final = 2
_MOST: Final = 0.9  # of a dataset is the whole of it
_REFRESH: Final = 2  # operation of dataset_specific
_BROADCAST: Final = Code(
    "values = comm.bcast(dataset[()] if comm.rank == 0 else None)",
    "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE), or H5Dread on rank 0 and MPI_Bcast",
)
_SHARED: Final = Code(
    "multiprocessing.shared_memory.SharedMemory(...) for the array, with MPI comm.bcast(values)",
    "shared memory, with MPI H5Dread on rank 0 and MPI_Bcast",
)


def read_again(data: Data) -> Advice | None:
    """Selections of a dataset that nobody writes, read more than once."""
    known = data.of("file_shape") != 0
    if data.writes.any() or not known.any() or data.special(_REFRESH):
        return None  # who refreshes it waits for what another process writes
    keys = np.stack([data.of("file_shape")[known], data.of("file_start")[known]], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    again = np.ones(len(keys), np.bool_)
    again[first] = False
    kept = int(data.bytes[known][first].sum())
    if not again.any() or kept > _MEMORY:
        return None
    return Advice(
        "read_again",
        data.path,
        f"{count(again.sum())} of {count(len(keys))} reads are of what was read before: "
        f"{size(data.bytes[known].sum())} in all, of {size(kept)}",
        "Read it once and keep it in memory; the layer `async` keeps decoded chunks "
        "(chunk_cache=…), which spares decoding alone",
        Code(
            "values = dataset[...]  # once, before the loop",
            "H5Dread(dataset, …, buffer) once, before the loop",
        ).of(python=data.python),
        spent_around(data.seat, data.transfers[known][again])
        + float(_prepared(data)[known][again].sum()),
        "the time of the reads that repeat one, and of h5py around them",
        f"{size(kept)} of memory; what others write to the file meanwhile is not seen",
        data.line,
    )


def _prepared(data: Data) -> NDArray[np.float64]:
    """Seconds before each read in which h5py fills a large array with zeros for it."""
    if not data.python:
        return np.zeros(len(data.before))
    return np.where(data.before < BETWEEN, 0, np.minimum(data.before, data.bytes / COPIED))


def by_all_ranks(run: Run) -> Iterator[Advice]:
    """A dataset that each process reads as a whole from the storage."""
    readers: dict[tuple[str, str], list[Data]] = defaultdict(list)
    for data in run.datasets:
        alone = ~data.writes & (data.of("collective") == 0)
        if data.bytes[alone].sum() >= _MOST * data.whole and len(data.requests(0)):
            readers[data.file, data.path].append(data)
    for (_, path), every in readers.items():
        # What runs one after the other has nobody to get it from.
        found = [one for one in every if any(meet(one.seat, o.seat) for o in every if o is not one)]
        if len(found) < _RANKS:
            continue
        spent = [float(each.stored[~each.writes].sum()) for each in found]
        worst = found[int(np.argmax(spent))]
        copied = worst.whole / COPIED
        yield Advice(
            "same_by_all_ranks",
            path,
            f"{count(len(found))} processes read all {size(worst.whole)} of it, each by itself",
            "Read it in one rank and broadcast it, or let all ranks read it in one collective call"
            if run.over_mpi
            else "Read it in one process and hand it to the others",
            worst.code(_BROADCAST if run.over_mpi else _SHARED),
            max(spent) * (1 - 1 / len(found)) - copied,
            f"the storage is asked once instead of {count(len(found))} times, less the time to "
            "copy the data",
            "all processes must get there at the same time",
            worst.line,
        )


def decoded_by_several(run: Run) -> Iterator[Advice]:
    """Compressed chunks that each of several processes decodes for itself."""
    readers: dict[tuple[str, str], list[Data]] = defaultdict(list)
    for data in run.datasets:
        if data.filtered and not data.writes.any() and not data.parallel:
            readers[data.file, data.path].append(data)
    for (_, path), every in readers.items():
        made = [each.seat.requests["offset"][each.requests_in(0, READ)] for each in every]
        decoded = sum(map(len, made))
        chunks = len(np.unique(np.concatenate(made)))
        if len(every) < _RANKS or decoded == chunks:
            continue
        worst = max(every, key=lambda each: float(each.seconds.sum()))
        kept = chunks * worst.chunk
        yield Advice(
            "decoded_by_several",
            path,
            f"{count(len(every))} processes decoded {count(decoded)} chunks of "
            f"{size(worst.chunk)}, each for itself, though there are only {count(chunks)}",
            "Run them under the layer `cache`, in which the processes of a node share what any of "
            "them has decoded",
            "headrace run --stack cache -- PROGRAM",
            float(worst.seconds.sum()) * (1 - chunks / decoded),
            "the time of the reads of the slowest, times the share of decodings that repeat one, "
            f"{1 - chunks / decoded:.0%}",
            f"{size(kept)} of memory for all of them together; what programs write in place "
            "without HDF5's locks is seen when the file is opened again",
            worst.line,
            stack="cache",
        )
