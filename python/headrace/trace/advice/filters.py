"""Filters: in one thread, for nothing, or not there where the storage is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, size
from headrace.trace.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.advice.evidence import COPIED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.advice.evidence import Data, Run

_LEAST_CHUNKS: Final = 4
_NEEDLESS: Final = 0.9  # of the bytes that are left
_CHECKSUM: Final = 3  # fletcher32 is not there to make data smaller
_MUCH: Final = 4 << 20  # bytes
_CODED: Final = 50e6  # bytes that shuffle and gzip's level 1 code in a second, on a core
_ASSUMED: Final = 2.0  # ratio, where no dataset of the run tells another


def _moves(data: Data) -> float:
    """Seconds of transfers and closes, in which chunks that HDF5's cache held are coded."""
    return float(data.seconds.sum()) + data.spent_in("dataset_close")


def _coding(data: Data) -> float:
    """Of these, the seconds that are neither the storage's nor for copying."""
    requests = data.spent_on(data.requested)
    return max(_moves(data) - requests - float(data.bytes.sum()) / COPIED, 0)


def _ratio(data: Data) -> float | None:
    """Bytes stored over bytes before the filters, by the chunks that were moved."""
    lengths = data.seat.requests["length"][data.requested]
    if not data.filtered or not len(lengths):
        return None
    return float(lengths.sum()) / (len(lengths) * min(data.chunk, max(data.whole, 1)))


def in_one_thread(data: Data) -> Advice | None:
    """Whole compressed chunks: HDF5 codes them in the program's own thread."""
    cores = int(data.seat.process.about.get("cores", 1))
    made = len(data.requested)
    moved = int(data.bytes.sum())
    if not data.filtered or made < _LEAST_CHUNKS or cores < 2 or moved < made * data.chunk / 2:
        return None  # where chunks are coded again and again, that is to be mended first
    used = min(cores, made)
    return Advice(
        "in_one_thread",
        data.path,
        f"HDF5 coded {size(moved)} in {count(made)} chunks in one thread, the program's own, "
        f"and {cores} cores are there",
        "Have the layer `async` code chunks on all cores",
        "headrace run --stack async -- PROGRAM",
        _coding(data) * (1 - 1 / used),
        f"the time of these calls that is neither the storage's nor for copying, on {used} cores "
        "instead of one",
        "the other cores are busy then, and decoded chunks take memory (chunk_cache=256MiB)",
        data.line,
        stack="async",
    )


def needless(data: Data) -> Advice | None:
    """Filters that leave the data as large as it was."""
    ratio = _ratio(data)
    if ratio is None or ratio < _NEEDLESS or len(data.requested) < 2:
        return None
    if [each["id"] for each in data.layout["filters"]] == [_CHECKSUM]:
        return None
    return Advice(
        "needless_filters",
        data.path,
        f"its filters leave {ratio:.0%} of the data's size",
        "Leave them out",
        Code(
            "file.create_dataset(name, data=data, chunks=True)  # no compression=",
            "no H5Pset_deflate, H5Pset_shuffle or H5Pset_filter on the dcpl",
        ).of(python=data.python),
        _coding(data),
        "the time of these calls that is neither the storage's nor for copying",
        f"data that would compress later does not either; {OTHER_FILE}",
        data.line,
    )


def missing(run: Run) -> Iterator[Advice]:
    """Data that slow storage takes longer for than filters would."""
    known = [r for each in run.datasets if (r := _ratio(each)) is not None and r < _NEEDLESS]
    ratio = 1 / float(np.median(known)) if known else _ASSUMED
    for data in run.datasets:
        lengths = data.seat.requests["length"][data.requested]
        spent = data.spent_on(data.requested)
        moved = float(lengths.sum())
        if data.layout["filters"] or moved < _MUCH or not spent:
            continue
        gain = spent * (1 - 1 / ratio) - moved / _CODED
        source = "as the run's others do" if known else "a guess: values are never recorded"
        yield Advice(
            "missing_filters",
            data.path,
            f"the storage took {size(moved)} of it at {size(moved / spent)} a second, and it has "
            "no filters",
            "Compress it",
            Code(
                "file.create_dataset(name, data=data, chunks=True, shuffle=True, "
                'compression="gzip", compression_opts=1)',
                "H5Pset_chunk(dcpl, …); H5Pset_shuffle(dcpl); H5Pset_deflate(dcpl, 1)",
            ).of(python=data.python),
            gain,
            f"if it shrinks to 1/{ratio:.2g} ({source}), less the time to code it at "
            f"{size(_CODED)} a second",
            f"data that does not compress takes longer; {OTHER_FILE}",
            data.line,
        )
