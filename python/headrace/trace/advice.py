"""What would help a program, by rule, with the numbers of its trace as evidence.

A rule looks at one object's use, or at the whole run, and returns nothing where it has nothing to
say. Its expected gain is the time that the calls in question took, times the share of their work
that would be spared: an upper bound, as what remains is assumed to cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, seconds, size
from headrace.trace.seats import WRITE
from headrace.trace.summary import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.reader import Fact, Trace
    from headrace.trace.seats import Seat

_LEAST: Final = 0.02  # of the time in HDF5: less is not worth a word
_MANY: Final = 100
_SMALL: Final = 4096  # bytes a call
_TINY: Final = 64 << 10  # bytes of a dataset
_BILLION: Final = 1e9


@dataclass(frozen=True)
class Advice:
    """One piece of advice; `gain` in seconds, at most."""

    subject: str
    evidence: str
    change: str
    gain: float
    risk: str = "none: the file stays the same for every reader"

    def __str__(self) -> str:
        """In one sentence or two."""
        return (
            f"{self.subject}: {self.evidence}. {self.change} "
            f"(spares up to {seconds(self.gain)}; risk: {self.risk})"
        )


@dataclass(frozen=True)
class Transfers:
    """The reads and writes of one dataset by a process, as the program made them."""

    use: Use
    layout: Fact
    writes: NDArray[np.bool_]
    bytes: NDArray[np.int64]
    starts: NDArray[np.int64]
    seconds: NDArray[np.float64]
    types: list[Fact]
    shapes: list[Fact]

    @property
    def chunk_bytes(self) -> int:
        """Of one chunk, decoded; 0 where there are none."""
        chunk = self.layout.get("chunk")
        return int(np.prod(chunk)) * int(self.layout["type"]["size"]) if chunk else 0


Rule = Callable[[Transfers], "Advice | None"]


def advise(trace: Trace, found: Sequence[Use], most: int = 3) -> list[Advice]:
    """The advice that promises most, in that order; `found`: the uses of its objects."""
    inside = sum(each.seconds for each in found)
    by_name = {(each.file, each.path): each for each in found}
    given: dict[tuple[str, str], Advice] = {}
    for seat in trace.seats:
        for transfers in _transfers(seat, by_name):
            for rule in _RULES:
                if advice := rule(transfers):
                    _keep(given, (rule.__name__, advice.subject), advice)
    for of_all in _OF_ALL:
        if advice := of_all(found):
            _keep(given, (of_all.__name__, advice.subject), advice)
    worth = [each for each in given.values() if each.gain >= _LEAST * inside]
    return sorted(worth, key=lambda each: -each.gain)[:most]


def _keep(given: dict[tuple[str, str], Advice], key: tuple[str, str], advice: Advice) -> None:
    """Of several processes, the one that it would help most."""
    if key not in given or given[key].gain < advice.gain:
        given[key] = advice


def _transfers(seat: Seat, named: dict[tuple[str, str], Use]) -> Iterator[Transfers]:
    process, raw = seat.process, seat.calls
    rows = seat.transfers[raw["failed"][seat.transfers] == 0]
    order = np.argsort(raw["object"][rows], kind="stable")
    ids, first = np.unique(raw["object"][rows][order], return_index=True)
    writes = seat.are((WRITE,))
    for id_, mine in zip(ids.tolist(), np.split(rows[order], first)[1:], strict=True):
        about = process.objects.get(id_, {})
        file = process.files.get(about.get("file", 0), {}).get("name", "")
        use = named.get((file, about.get("path", "")))
        if use is None or id_ not in process.datasets:
            continue
        yield Transfers(
            use,
            process.datasets[id_],
            writes[mine],
            raw["bytes"][mine],
            raw["file_start"][mine],
            raw["duration"][mine] / _BILLION,
            [process.types[i] for i in np.unique(raw["type"][mine]) if i in process.types],
            [process.shapes[i] for i in np.unique(raw["file_shape"][mine]) if i in process.shapes],
        )


# ---- rules of one dataset


def decoded_again(data: Transfers) -> Advice | None:
    """Parts of compressed chunks that HDF5's cache does not hold: each part decodes all of one."""
    reads = ~data.writes
    chunk = data.chunk_bytes
    asked = int(data.bytes[reads].sum())
    if not data.layout["filters"] or not chunk or reads.sum() <= 2 or not asked:
        return None
    stored = data.use.stored_read
    elements = int(np.prod(data.layout["dims"])) * int(data.layout["type"]["size"])
    decodings = stored / max(min(elements, chunk), 1)
    if stored < 2 * min(elements, asked + chunk) or decodings < 2:
        return None
    spared = 1 - min(elements, chunk * len(np.unique(data.starts[reads]))) / stored
    return Advice(
        data.use.path,
        f"{count(reads.sum())} reads of {size(asked)} in all made HDF5 read {size(stored)}: "
        f"a chunk has {size(chunk)}, more than its cache keeps, and is decoded again for each part",
        "Run it with `headrace run --stack async --`, which keeps decoded chunks, or open the file "
        f"with h5py.File(..., rdcc_nbytes={2 * chunk})" + _kept_open(data),
        float(data.seconds[reads].sum()) * max(spared, 0),
    )


def _kept_open(data: Transfers) -> str:
    often = data.use.opened * 2 > len(data.bytes)
    return " and the dataset once, before the loop: closing it empties its cache" if often else ""


def rewritten_in_parts(data: Transfers) -> Advice | None:
    """Parts of compressed chunks that are written one by one, and each encodes all of one."""
    written = int(data.bytes[data.writes].sum())
    chunk = data.chunk_bytes
    if not data.layout["filters"] or not chunk or data.writes.sum() < 2 or not written:
        return None
    part = written / int(data.writes.sum())
    if data.use.stored_written + data.use.stored_read < 2 * written or part > chunk / 2:
        return None
    return Advice(
        data.use.path,
        f"{count(data.writes.sum())} writes of {size(part)} each to chunks of {size(chunk)} made "
        f"HDF5 write {size(data.use.stored_written)} for {size(written)}: a chunk is encoded for "
        "each part",
        "Run it with `headrace run --stack async --`, which encodes a chunk when it is whole, or "
        "write whole chunks",
        float(data.seconds[data.writes].sum()) * (1 - part / chunk),
    )


def filtered_in_one_thread(data: Transfers) -> Advice | None:
    """Whole compressed chunks: HDF5 codes them in the program's own thread."""
    chunk = data.chunk_bytes
    moved = int(data.bytes.sum())
    if not data.layout["filters"] or not chunk or moved < 4 * chunk:
        return None
    if data.use.stored_read + data.use.stored_written > 2 * moved:
        return None  # another rule's
    return Advice(
        data.use.path,
        f"HDF5 coded {size(moved)} in chunks of {size(chunk)} in one thread, the program's own",
        "Run it with `headrace run --stack async --`, which codes chunks on all cores",
        data.use.seconds * 0.5,  # chunks are coded when the dataset is closed, too
    )


def scattered_writes(data: Transfers) -> Advice | None:
    """Many small writes that do not go on where the one before has ended."""
    writes = data.writes
    number = int(writes.sum())
    if data.layout["filters"] or number <= _MANY or data.bytes[writes].mean() >= _SMALL * 16:
        return None
    jumps = np.diff(data.starts[writes])
    element = max(int(data.layout["type"]["size"]), 1)
    apart = np.abs(jumps) * element > data.bytes[writes][:-1] * 2
    if apart.mean() < 0.5 and not _has_strides(data):
        return None
    return Advice(
        data.use.path,
        f"{count(number)} writes of {size(data.bytes[writes].mean())} each go to places apart",
        "Run it with `headrace run --stack log --`, which appends them and orders them later",
        float(data.seconds[writes].sum()) * 0.5,
        "none for readers once the program has closed the file",
    )


def _has_strides(data: Transfers) -> bool:
    """Whether most shapes have many short rows."""
    short = [
        each
        for each in data.shapes
        if each["kind"] != "all" and each.get("block") and each["block"][-1] * 8 < each["dims"][-1]
    ]
    return len(short) * 2 > len(data.shapes)


def converted(data: Transfers) -> Advice | None:
    """Numbers of another type or order in memory than in the file."""
    stored = data.layout["type"]
    others = [
        each["is"]
        for each in data.types
        if each["is"]["class"] == stored["class"]
        and (each["is"]["size"], each["is"].get("order")) != (stored["size"], stored.get("order"))
    ]
    if not others or stored["class"] not in ("H5T_INTEGER", "H5T_FLOAT"):
        return None
    return Advice(
        data.use.path,
        f"its {stored['size']}-byte {stored.get('order', '')}-endian numbers are converted to "
        f"those of {others[0]['size']} bytes ({others[0].get('order', '')}-endian) in "
        f"{count(len(data.bytes))} calls",
        "Keep one type in both: dataset.dtype tells that of the file",
        float(data.seconds.sum()) * 0.3,
        "a file with another type is another file to its readers",
    )


def united_selections(data: Transfers) -> Advice | None:
    """Unions of hyperslabs, as lists of rows make them: HDF5 is slow at each transfer of one."""
    unions = [each for each in data.shapes if each["kind"] == "union"]
    if not unions or len(unions) * 2 < len(data.shapes):
        return None
    return Advice(
        data.use.path,
        f"{count(len(data.bytes))} transfers select lists or unions, which HDF5 takes apart anew",
        "Run it with `headrace run --stack async --`, which takes them as rows, or read one block "
        "around them and index that in memory",
        float(data.seconds.sum()) * 0.8,
    )


_RULES: Final[tuple[Rule, ...]] = (
    decoded_again, rewritten_in_parts, filtered_in_one_thread, scattered_writes, converted,
    united_selections,
)  # fmt: skip


# ---- rules of the whole run


def tiny_datasets(found: Sequence[Use]) -> Advice | None:
    """Many datasets of a few numbers: each costs a header, a link and the calls around it."""
    tiny = [
        each
        for each in found
        if each.kind == "dataset" and 0 < each.read + each.written < _TINY and each.calls < _MANY
    ]
    if len(tiny) < 5 * _MANY:
        return None
    spent = sum(each.seconds for each in found if each.kind in ("dataset", "group"))
    return Advice(
        "all files",
        f"{count(len(tiny))} datasets hold {size(sum(e.read + e.written for e in tiny))} in all",
        "Keep them as rows of one dataset, or as attributes of one object",
        spent * 0.9,
        "readers must know the other layout",
    )


def opened_in_a_loop(found: Sequence[Use]) -> Advice | None:
    """An object that is opened again for each of its transfers."""
    often = max(found, key=lambda each: each.opened, default=Use())
    if often.opened < _MANY or often.kind not in ("dataset", "group"):
        return None
    return Advice(
        often.path,
        f"it is opened {count(often.opened)} times",
        "Open it once, before the loop: dataset = file[name]",
        often.seconds * min(often.opened / max(often.calls, 1), 1),
    )


_OF_ALL: Final[tuple[Callable[[Sequence[Use]], Advice | None], ...]] = (
    tiny_datasets, opened_in_a_loop,
)  # fmt: skip
