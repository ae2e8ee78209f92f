"""Chunks that HDF5's cache does not keep: decoded or encoded again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.trace.analysis.advice.process import default_cache
from headrace.trace.analysis.advice.selections import distinct
from headrace.trace.model.seats import READ, WRITE
from headrace.units import count, size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data

_CACHE: Final = 256 << 20  # bytes that a dataset's cache may be advised to take
_FEW_SLOTS: Final = 100  # chunks, of which more want more slots than HDF5 has by default
_SLOTS: Final = 12421
_OPENED: Final = 0.5  # of what is decoded again, at least, is so for the opening
_OPENS: Final = ("dataset_open", "object_open", "dataset_create")


def cache_too_small(data: Data) -> Advice | None:
    """Chunks that HDF5's cache does not keep until they are read again."""
    if not data.filtered or data.writes.all():
        return None
    made = data.requests_in(0, READ)
    offsets = data.seat.requests["offset"][made]
    chunks = len(np.unique(offsets))
    again = len(made) - chunks
    reach = _reach(offsets)
    needed = min(reach, chunks) * data.chunk
    if not again or needed > _CACHE:
        return None
    reads = ~data.writes
    # What one opening decodes but once is lost by the closing, however large the cache.
    within = len(made) - len(np.unique(np.stack([_openings(data, made), offsets]), axis=1)[0])
    opened = again - within >= _OPENED * again
    fits = needed <= default_cache(data.seat, data.chunk)
    cache = max(2 * needed, default_cache(data.seat, data.chunk))
    setting = _setting(cache, reach)
    change, code, risk = "Give it a cache", data.code(setting), _memory(cache)
    if opened and fits:
        change, code, risk = _ONCE, data.code(_opening(data)), "none, as long as nobody deletes it"
    elif opened:
        change = f"{change}; {_ONCE[0].lower()}{_ONCE[1:]}"
    return Advice(
        "cache_too_small",
        data.path,
        f"{count(reads.sum())} reads of {size(data.bytes[reads].sum())} in all made HDF5 read and "
        f"decode {count(len(made))} chunks of {size(data.chunk)}, though there are only "
        f"{count(chunks)}: " + (_LOST if opened else "its chunk cache does not keep them"),
        f"{change}, or run it with `headrace run --stack async --`, which keeps decoded chunks",
        code,
        float(data.seconds[reads].sum()) * again / len(made),
        f"the time of these reads times the share of decodings that repeat one, "
        f"{again / len(made):.0%}",
        risk,
        data.line,
        stack="async",
    )


_ONCE: Final = "Open the dataset once, before the loop: its cache goes when it is closed"
_LOST: Final = "its chunk cache is gone when the dataset is closed, and it is opened again"


def _memory(cache: int) -> str:
    return f"{size(cache)} of memory for each dataset that is open"


def _setting(cache: int, chunks: int) -> Code:
    """A chunk cache of that size, with slots for so many chunks."""
    slots = f", rdcc_nslots={_SLOTS}" if chunks > _FEW_SLOTS else ""
    return Code(
        f"h5py.File(..., rdcc_nbytes={cache}{slots})",
        f"H5Pset_chunk_cache(dapl, {_SLOTS}, {cache}, 1.0) for H5Dopen and H5Dcreate",
        f"variable.set_var_chunk_cache({cache}), in C nc_set_var_chunk_cache(…, {cache}, "
        f"{_SLOTS}, 0.75)",
    )


def _opening(data: Data) -> Code:
    return Code(
        f"dataset = file[{data.path!r}]  # before the loop, and the file stays open",
        f'hid_t dataset = H5Dopen(file, "{data.path}", H5P_DEFAULT) before the loop',
        "one netCDF4.Dataset, opened before the loop, in C one nc_open",
    )


def _reach(offsets: NDArray[np.int64]) -> int:
    """The most requests from one for a chunk to the next for it."""
    order = np.argsort(offsets, kind="stable")
    gaps = np.diff(order)[np.diff(offsets[order]) == 0]
    return int(gaps.max()) if len(gaps) else 1


def _openings(data: Data, requests: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often the dataset had been opened when each of these was made."""
    begin = data.seat.calls["begin"]
    opens = np.sort(begin[data.rows[data.seat.are(_OPENS)[data.rows]]])
    found: NDArray[np.int64] = np.searchsorted(opens, begin[data.seat.owner[requests]], "right")
    return found


def rewritten_in_parts(data: Data) -> Advice | None:
    """Parts of compressed chunks that are written one by one, and each encodes all of one."""
    if not data.filtered or not data.writes.any():
        return None
    evicted, closed = data.requests_in(1, WRITE), data.requests_in(1, "dataset_close")
    made = len(evicted) + len(closed)
    written = int(data.bytes[data.writes].sum())
    if made < 2 or written > made * data.chunk / 2:
        return None  # whole chunks, however often
    chunks = distinct(data, data.writes)
    if chunks is None or made < 2 * chunks:
        return None
    opened = len(closed) > len(evicted)
    cache = max(
        2 * max(data.chunk, min(data.whole, _CACHE // 4)), default_cache(data.seat, data.chunk)
    )
    remedy = "give the dataset a cache that holds those that are being filled"
    if opened:
        remedy = "keep the dataset open until it is done, as closing it encodes them"
    spent = float(data.seconds[data.writes].sum()) + data.spent_in("dataset_close")
    return Advice(
        "rewritten_in_parts",
        data.path,
        f"{count(data.writes.sum())} writes of {size(written)} in all made HDF5 encode "
        f"{count(made)} chunks of {size(data.chunk)}, where {count(chunks)} hold them: a "
        "chunk is encoded again for each part of it",
        f"Write whole chunks, {remedy}, or run it with `headrace run --stack async --`, which "
        "encodes a chunk once it is whole",
        data.code(_opening(data) if opened else _setting(cache, chunks)),
        spent * (1 - chunks / made),
        f"the time of the writes and the close times the share of encodings that repeat one, "
        f"{1 - chunks / made:.0%}",
        "a crash loses what is not in the file yet" if opened else _memory(cache),
        data.line,
        stack="async",
    )
