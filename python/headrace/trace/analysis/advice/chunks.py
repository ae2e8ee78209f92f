"""Chunks of another shape or size than what is accessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.trace.analysis.advice.data import COPIED
from headrace.trace.analysis.advice.rewriting import Command, rechunked
from headrace.trace.analysis.advice.selections import TARGET, begins, fitting, touched
from headrace.units import count, size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data

_TOUCHED: Final = 4  # times the chunks that would do
_TINY: Final = 16 << 10  # bytes of a chunk that takes longer to find than to move
_MANY: Final = 500  # such chunks
_MOSTLY: Final = 0.5
_CALL: Final = 0.5  # times what finding a chunk takes: all else of a call
_CODED: Final = 60e6  # bytes that a filter encodes in a second
_DECODED: Final = 300e6
_READ: Final = 1e9  # bytes of what larger chunks hold beside that are read in a second


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
    now = touched(data, data.layout["chunk"])
    ideal = max(float(data.bytes.sum()) / max(data.chunk, TARGET), 1.0)
    if now.mean() < _TOUCHED or now.sum() < _TOUCHED * max(ideal, len(now)):
        return None
    if data.bytes.sum() > now.sum() * data.chunk / 2:
        return None  # most of what is touched is needed
    better = _dearest(data, now)
    calls = float(touched(data, better).sum())
    left = ideal if data.filtered else max(calls, ideal)
    if better == list(data.layout["chunk"]) or left >= now.sum() / 2:
        return None
    return Shape(better, left, now)


def _dearest(data: Data, now: NDArray[np.float64]) -> list[int]:
    """Chunks for the selection that touches most."""
    place = int(data.of("file_shape")[int(np.argmax(now * data.bytes))])
    return fitting(data.seat.process.shapes.get(place, {}), data)


def wrong_shape(data: Data) -> Advice | None:
    """Calls that touch many chunks for the little they take of each."""
    if (found := better_shape(data)) is None:
        return None
    spent = float(data.seconds.sum()) + data.spent_in("dataset_close")
    share = found.left / float(found.touched.sum())
    code, command = _chunks(data, found.extent)
    return Advice(
        "wrong_shape",
        data.path,
        f"{count(len(found.touched))} calls of {size(data.bytes.mean())} each touch "
        f"{count(found.touched.mean())} chunks of {_by(data.layout['chunk'])} elements on average, "
        "in which they need only a part",
        f"Make chunks of the shape that is accessed, {_by(found.extent)}",
        code,
        spent * (1 - share) - float(data.bytes.sum()) / COPIED,
        f"the time of these calls, less the share of the chunks that would still be touched, "
        f"{share:.0%}",
        f"accesses of another shape become slower{_others(data, command)}",
        data.line,
        options=command.options,
        source=data.file,
    )


def tiny_chunks(data: Data) -> Advice | None:
    """Chunks of a step each, say: HDF5 looks for each by itself, and asks the storage for it."""
    if not 0 < data.chunk <= _TINY or not len(data.transfers) or data.parallel:
        return None
    now = touched(data, data.layout["chunk"])
    number, moved = float(now.sum()), float(data.bytes.sum())
    if number < _MANY or moved < number * data.chunk / 2:
        return None  # there are few, or their shape is wrong, or they are kept from call to call
    if data.writes.mean() > _MOSTLY and number < 2 * len(now):
        return None  # what a call takes to write outweighs what its chunk does
    better = _dearest(data, now)
    left = _visited(data, better)
    if left > number / 2:
        return None
    coded = float(data.bytes[data.writes].sum()) / _CODED
    coded += float(data.bytes[~data.writes].sum()) / _DECODED
    spent = float(data.seconds.sum()) - moved / COPIED - (coded if data.filtered else 0)
    share = (number - left) / (number + _CALL * len(now))
    bytes_ = float(np.prod(better, dtype=np.float64)) * data.item
    code, command = _chunks(data, better)
    return Advice(
        "tiny_chunks",
        data.path,
        f"{count(len(now))} calls touch {count(number)} chunks of {size(data.chunk)} each, "
        f"{_by(data.layout['chunk'])} elements, and HDF5 looks for each by itself, in "
        f"{count(len(data.requested))} requests",
        f"Make larger chunks, {_by(better)}, of {size(bytes_)}",
        code,
        spent * share - max(left * bytes_ - moved, 0) / _READ,
        f"{share:.0%} of the time of these calls without that for their data, as finding a chunk "
        "takes twice as long as all else of a call",
        f"who reads a step alone reads the others of its chunk, too{_others(data, command)}",
        data.line,
        options=command.options,
        source=data.file,
    )


def _visited(data: Data, chunk: list[int]) -> float:
    """How many such chunks the calls touch, without those that the call before has left."""
    found = touched(data, chunk)
    first = begins(data, chunk)
    same = np.zeros(len(found), np.bool_)
    same[1:] = (first[1:] == first[:-1]) & (first[1:] >= 0)
    return float(found[~same].sum() + np.maximum(found[same] - 1, 0).sum())


def _chunks(data: Data, extent: list[int]) -> tuple[str, Command]:
    """What makes such a dataset, or of one that was there a file with it; and that command."""
    command = rechunked(data, extent)
    text = ", ".join(map(str, extent))
    comma = "," if len(extent) == 1 else ""
    made = Code(
        f"file.create_dataset(name, shape, dtype, chunks=({text}{comma}))",
        f"H5Pset_chunk(dcpl, {len(extent)}, (hsize_t[]){{{text}}})",
        f"createVariable(name, type, dimensions, chunksizes=({text}{comma})), in C "
        f"nc_def_var_chunking(…, NC_CHUNKED, (size_t[]){{{text}}})",
    )
    return (data.code(made) if data.made else command.text), command


def _others(data: Data, command: Command) -> str:
    return f"; {command.risk}" if data.made else ""


def _by(numbers: list[int]) -> str:
    return " by ".join(map(str, numbers))
