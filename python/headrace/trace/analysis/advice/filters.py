"""Filters: in one thread, for nothing, or not there where the storage is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.trace.analysis.advice.data import COPIED
from headrace.trace.analysis.advice.rewriting import filtered
from headrace.units import count, size

if TYPE_CHECKING:
    from headrace.trace.analysis.advice.data import Data

_LEAST_CHUNKS: Final = 4
_WORTH_A_TASK: Final = 4096  # bytes of a chunk: looking for smaller ones takes longer than coding
_ONE: Final = 1.1  # times a chunk, and
_BESIDE: Final = 1024  # bytes: the most that a filter makes of it
_LARGE: Final = 64 << 10  # bytes of a request
_NUMBERS: Final = (
    "H5T_INTEGER",
    "H5T_FLOAT",
    "H5T_ENUM",
    "H5T_COMPOUND",
    "H5T_ARRAY",
    "H5T_COMPLEX",
)
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
    """Bytes stored over bytes before the filters, by the chunks that were moved.

    HDF5 encodes whole chunks at the edges of a dataset, too. None where requests are not for one
    chunk each, as with those of several ranks.
    """
    lengths = data.seat.requests["length"][data.requested]
    if not data.filtered or not len(lengths) or lengths.max() > _ONE * data.chunk + _BESIDE:
        return None
    return float(lengths.mean()) / data.chunk


def in_one_thread(data: Data) -> Advice | None:
    """Whole compressed chunks: HDF5 codes them in the program's own thread."""
    cores = int(data.seat.process.about.get("cores", 1)) // max(data.run.beside(data.seat), 1)
    made = len(data.requested)
    moved = int(data.bytes.sum())
    if not data.filtered or made < _LEAST_CHUNKS or cores < 2 or moved < made * data.chunk / 2:
        return None  # where chunks are coded again and again, that is to be mended first
    if data.chunk < _WORTH_A_TASK or data.parallel:
        return None
    used = min(cores, made)
    return Advice(
        "in_one_thread",
        data.path,
        f"HDF5 coded {size(moved)} in {count(made)} chunks in one thread, the program's own, "
        f"and {cores} cores are there for it",
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
    command = filtered(data, "NONE")
    return Advice(
        "needless_filters",
        data.path,
        f"its filters leave {ratio:.0%} of the data's size",
        "Leave them out",
        data.code(
            Code(
                "file.create_dataset(name, data=data, chunks=True)  # no compression=",
                "no H5Pset_deflate, H5Pset_shuffle or H5Pset_filter on the dcpl",
                "createVariable(name, type, dimensions)  # no compression=, zlib= or shuffle=",
            )
        )
        if data.made
        else command.text,
        _coding(data),
        "the time of these calls that is neither the storage's nor for copying",
        f"data that would compress later does not either; {command.risk}",
        data.line,
        options=command.options,
        source=data.file,
    )


def missing(data: Data) -> Advice | None:
    """Data that slow storage takes longer for than filters would."""
    lengths = data.seat.requests["length"][data.requested]
    spent, moved = data.spent_on(data.requested), float(lengths.sum())
    if data.layout["filters"] or moved < _MUCH or not spent or data.parallel:
        return None
    if float(data.bytes.sum()) < moved / 2 or moved < len(lengths) * _LARGE:
        return None  # a filter would have it read whole chunks for the little it needs
    if data.layout["type"]["class"] not in _NUMBERS:
        return None
    known = _known_ratio(data)
    ratio = known or _ASSUMED
    source = "as the run's others do" if known else "a guess: values are never recorded"
    command = filtered(data, "SHUF", "GZIP=1")
    made = Code(
        "file.create_dataset(name, data=data, chunks=True, shuffle=True, "
        'compression="gzip", compression_opts=1)',
        "H5Pset_chunk(dcpl, …); H5Pset_shuffle(dcpl); H5Pset_deflate(dcpl, 1)",
        'createVariable(name, type, dimensions, compression="zlib", complevel=1), in C '
        "nc_def_var_deflate(…, 1, 1, 1)",
    )
    return Advice(
        "missing_filters",
        data.path,
        f"the storage took {size(moved)} of it at {size(moved / spent)} a second, and it has "
        "no filters",
        "Compress it",
        data.code(made) if data.made else command.text,
        spent * (1 - 1 / ratio) - moved / _CODED,
        f"if it shrinks to 1/{ratio:.2g} ({source}), less the time to code it at "
        f"{size(_CODED)} a second",
        f"data that does not compress takes longer; {command.risk}",
        data.line,
        options=command.options,
        source=data.file,
    )


def _known_ratio(data: Data) -> float | None:
    """How many times smaller filters make the run's other datasets."""
    ratios = map(_ratio, data.run.datasets)
    known = [each for each in ratios if each is not None and each < _NEEDLESS]
    return 1 / float(np.median(known)) if known else None
