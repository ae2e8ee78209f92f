"""Chunks that are decoded or encoded again and again, and chunks of the wrong shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, size
from headrace.trace.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.advice.evidence import COPIED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.advice.evidence import Data
    from headrace.trace.reader import Fact

_CACHE: Final = 256 << 20  # bytes that a dataset's cache may be advised to take
_TARGET: Final = 256 << 10  # bytes of a chunk that is advised
_TOUCHED: Final = 4  # times the chunks that would do


def cache_too_small(data: Data) -> Advice | None:
    """Chunks that HDF5's cache does not keep until they are read again."""
    made = data.requests(0)
    offsets = data.seat.requests["offset"][made]
    distinct = len(np.unique(offsets))
    if not data.filtered or data.writes.all() or distinct == len(made):
        return None
    needed = min(_reach(offsets), distinct) * data.chunk
    if needed > _CACHE:
        return None
    reads = ~data.writes
    gain = float(data.seconds[reads].sum()) * (1 - distinct / len(made))
    opened = data.count_of("dataset_open", "object_open")
    again = opened > 1 and opened * 2 > reads.sum()
    cache = 2 * needed
    once = "; open the dataset once, before the loop: its cache goes when it is closed"
    return Advice(
        "cache_too_small",
        data.path,
        f"{count(reads.sum())} reads of {size(data.bytes[reads].sum())} in all made HDF5 read and "
        f"decode {count(len(made))} chunks of {size(data.chunk)}, though there are only "
        f"{count(distinct)}: its chunk cache does not keep them",
        f"Give it a cache{once if again else ''}, or run it with `headrace run --stack async --`, "
        "which keeps decoded chunks",
        Code(
            f"h5py.File(..., rdcc_nbytes={cache})",
            f"H5Pset_chunk_cache(dapl, 12421, {cache}, 1.0) for H5Dopen",
        ).of(python=data.python),
        gain,
        f"the time of these reads times the share of decodings that repeat one, "
        f"{1 - distinct / len(made):.0%}",
        f"{size(cache)} of memory for each dataset that is open",
        data.line,
        stack="async",
    )


def _reach(offsets: NDArray[np.int64]) -> int:
    """The most requests from one for a chunk to the next for it."""
    order = np.argsort(offsets, kind="stable")
    gaps = np.diff(order)[np.diff(offsets[order]) == 0]
    return int(gaps.max()) if len(gaps) else 1


def rewritten_in_parts(data: Data) -> Advice | None:
    """Parts of compressed chunks that are written one by one, and each encodes all of one."""
    made = len(data.requests(1))
    if not data.filtered or not data.writes.any() or not made:
        return None
    written = int(data.bytes[data.writes].sum())
    distinct = max(math.ceil(min(written, data.whole) / data.chunk), 1)
    if made < 2 * distinct:
        return None
    spent = float(data.seconds[data.writes].sum()) + data.spent_in("dataset_close")
    cache = 2 * max(data.chunk, min(data.whole, _CACHE // 4))
    return Advice(
        "rewritten_in_parts",
        data.path,
        f"{count(data.writes.sum())} writes of {size(written)} in all made HDF5 encode "
        f"{count(made)} chunks of {size(data.chunk)}, where {count(distinct)} would hold them: a "
        "chunk is encoded again for each part of it",
        "Write whole chunks, give the dataset a cache that holds those that are being filled, or "
        "run it with `headrace run --stack async --`, which encodes a chunk once it is whole",
        Code(
            f"h5py.File(..., rdcc_nbytes={cache})",
            f"H5Pset_chunk_cache(dapl, 12421, {cache}, 1.0) for H5Dcreate",
        ).of(python=data.python),
        spent * (1 - distinct / made),
        f"the time of the writes and the close times the share of encodings that repeat one, "
        f"{1 - distinct / made:.0%}",
        f"{size(cache)} of memory for each dataset that is open",
        data.line,
        stack="async",
    )


@dataclass(frozen=True)
class Shape:
    """Chunks that fit how a dataset is accessed: their extent, and how many calls touch then.

    `touched`: those that each call touches as the dataset is now.
    """

    extent: list[int]
    left: float
    touched: NDArray[np.float64]


def better_shape(data: Data) -> Shape | None:
    """Where calls touch many chunks for the little they take of each."""
    if not data.chunk or not len(data.transfers):
        return None
    shapes = data.shapes(np.ones(len(data.transfers), np.bool_))
    kinds = {id(each): _touched(each, data.layout["chunk"]) for each in shapes}
    touched = np.array([kinds[id(each)] for each in shapes])
    ideal = max(float(data.bytes.sum()) / max(data.chunk, _TARGET), 1.0)
    most = shapes[int(np.argmax(touched * data.bytes))]
    if touched.mean() < _TOUCHED or touched.sum() < _TOUCHED * max(ideal, len(shapes)):
        return None
    if data.bytes.sum() > touched.sum() * data.chunk / 2:
        return None  # most of what is touched is needed
    better = _fitting(most, data)
    calls = float(np.array([_touched(each, better) for each in shapes]).sum())
    left = ideal if data.filtered else max(calls, ideal)
    if better == list(data.layout["chunk"]) or left >= touched.sum() / 2:
        return None
    return Shape(better, left, touched)


def wrong_shape(data: Data) -> Advice | None:
    """Calls that touch many chunks for the little they take of each."""
    if (found := better_shape(data)) is None:
        return None
    better, left, touched = found.extent, found.left, found.touched
    spent = float(data.seconds.sum()) + data.spent_in("dataset_close")
    gain = spent * (1 - left / float(touched.sum())) - float(data.bytes.sum()) / COPIED
    text = ", ".join(map(str, better))
    return Advice(
        "wrong_shape",
        data.path,
        f"{count(len(touched))} calls of {size(data.bytes.mean())} each touch "
        f"{count(touched.mean())} chunks of {_by(data.layout['chunk'])} elements on average, in "
        "which they need only a part",
        f"Make chunks of the shape that is accessed, {_by(better)}",
        Code(
            f"file.create_dataset(name, shape, dtype, chunks=({text},))",
            f"H5Pset_chunk(dcpl, {len(better)}, (hsize_t[]){{{text}}})",
        ).of(python=data.python),
        gain,
        f"the time of these calls, less the share of the chunks that would still be touched, "
        f"{left / float(touched.sum()):.0%}",
        f"accesses of another shape become slower; {OTHER_FILE}",
        data.line,
    )


def _by(numbers: list[int]) -> str:
    return " by ".join(map(str, numbers))


def _extent(shape: Fact) -> list[tuple[int, int]]:
    """By dimension: what is selected from the first element to the last, and the parts of it."""
    if shape.get("kind") == "all":
        return [(int(n), 1) for n in shape["dims"]]
    if shape.get("kind") != "hyperslab" or not {"count", "stride", "block"} <= shape.keys():
        return []
    parts = zip(shape["count"], shape["stride"], shape["block"], strict=True)
    return [(int((n - 1) * step + block), int(n)) for n, step, block in parts]


def _touched(shape: Fact, chunk: list[int]) -> float:
    """How many chunks that needs at least; 0 where it is not recorded."""
    found = 1.0 if _extent(shape) else 0.0
    for (extent, parts), length in zip(_extent(shape), chunk, strict=False):
        across = math.ceil(extent / max(length, 1))
        found *= max(min(across, parts), 1) if parts > 1 else across
    return found


def _fitting(shape: Fact, data: Data) -> list[int]:
    """Chunks of about the usual size that begin as what is selected, and grow where it is thin."""
    dims = [max(int(n), 1) for n in data.layout.get("dims", [])]
    if len(_extent(shape)) != len(dims):
        return list(data.layout["chunk"])
    found = [min(max(extent, 1), n) for (extent, _), n in zip(_extent(shape), dims, strict=True)]
    target = max(_TARGET, min(data.chunk, 4 * _TARGET))
    while math.prod(found) * data.item > target and max(found) > 1:
        place = int(np.argmax(found))
        found[place] = max(found[place] // 2, 1)
    while math.prod(found) * data.item * 2 <= target:
        free = [i for i, n in enumerate(dims) if found[i] < n]
        if not free:
            break
        place = min(free, key=lambda i: found[i] / dims[i])
        found[place] = min(found[place] * 2, dims[place])
    return found
