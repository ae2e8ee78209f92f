"""What a search may try: layers, and options of theirs.

Options that change how objects are stored, which readers may notice, are tried with consent only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.chunks import better_shape
from headrace.trace.analysis.advice.evidence import Run
from headrace.trace.analysis.hazards import find, verdicts
from headrace.trace.analysis.summary import totals, uses
from headrace.trace.model.seats import WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

ON: Final = "on"
_ORDER: Final = ("tune", "async", "log", "stripe")  # from the program down
_SIEVE: Final = 64 << 10  # bytes that HDF5's has
_SMALL: Final = 0.05  # of all requests, or of all time, that are worth a setting
_TINY: Final = 8 << 10  # bytes of a dataset
_RAW: Final = 3  # H5FD_MEM_DRAW


@dataclass(frozen=True, order=True)
class Setting:
    """An option of a layer, or with an empty one the layer itself."""

    layer: str
    option: str = ""
    value: str = ON

    def __str__(self) -> str:
        """As a user would write it."""
        return f"{self.layer}({self.option}={self.value})" if self.option else self.layer


Candidate = frozenset[Setting]
NATIVE: Final[Candidate] = frozenset()


@dataclass(frozen=True)
class Knob:
    """What can be set in one place: one of `values`, or nothing."""

    layer: str
    option: str
    values: tuple[str, ...]
    reason: str
    fits: Callable[[Facts], bool]
    unreadable: str = ""  # who cannot read the file any more, of what is tried with consent only

    @property
    def name(self) -> str:
        """For people, and for the optimiser."""
        return f"{self.layer}.{self.option}" if self.option else self.layer


@dataclass(frozen=True)
class Facts:
    """What a trace says of the program, as far as knobs depend on it."""

    small_contiguous: float  # of all transfers, those of small parts of contiguous datasets
    metadata: float  # of all requests, those for metadata
    writes: bool
    chunk_bytes: float  # of all datasets in chunks with filters, decoded
    small_datasets: float  # of all datasets, those of at most 8 KiB that lie in one piece
    deflated: bool  # whether datasets have deflate
    ranks: int = 1
    alike: bool = False  # whether all ranks make all calls
    apart: frozenset[str] = frozenset()  # of mpi_staging and mpi_logs, what ranks are safe with


def _always(_: Facts) -> bool:
    return True


KNOBS: Final = (
    Knob("tune", "", (ON,), "chunk caches that hold what comes again", _always),
    Knob("tune", "seat", ("both",), "fill values that are written only where no data is",
         lambda facts: facts.writes),
    Knob("tune", "sieve", ("4KiB", "1MiB", "16MiB"), "small parts of contiguous datasets",
         lambda facts: facts.small_contiguous > _SMALL),
    Knob("tune", "metadata_block", ("64KiB", "1MiB"), "metadata that lies together",
         lambda facts: facts.writes and facts.metadata > _SMALL),
    Knob("tune", "metadata_cache", ("16MiB", "64MiB"), "metadata that is needed again",
         lambda facts: facts.metadata > _SMALL),
    Knob("tune", "memory", ("1GiB",), "chunks that come again, of large datasets",
         lambda facts: facts.chunk_bytes > 256 << 20),
    Knob("async", "", (ON,), "writing behind the program, and filters on all cores", _always),
    Knob("log", "", (ON,), "scattered writes appended, and put in order at the end",
         lambda facts: facts.writes),
)  # fmt: skip


CONSENT: Final = Setting("tune", "allow", "layout")
CHECK: Final = Setting("tune", "check_ranks", "true")
APART: Final = frozenset(
    {Setting("async", "mpi_staging", "true"), Setting("log", "mpi_logs", "rank")}
)
IMPLIED: Final = frozenset({CONSENT, CHECK})
# Of programs of several ranks.
MPI_KNOBS: Final = (
    Knob("tune", "cb_nodes", ("1", "2"), "fewer ranks that write for all", _always),
    Knob("tune", "cb_buffer_size", ("1MiB", "64MiB"), "what those write at a time", _always),
    Knob("tune", "striping_factor", (), "storage targets that a new file is dealt out to",
         lambda _: False),  # by the model only: here a file system has none
    Knob("tune", "striping_unit", (), "what lies on one of them before the next has its turn",
         lambda _: False),
    Knob("tune", "data_sieving", ("disable", "enable"), "small pieces of ranks' own", _always),
    Knob("tune", "collective_metadata", ("true",), "metadata that one rank reads for all",
         lambda facts: facts.alike),
    Knob("tune", "read_once", ("true",), "whole datasets that one rank reads for all",
         lambda facts: not facts.writes or facts.alike),
    Knob("async", "mpi_staging", ("true",), "data of ranks, which keep apart, written behind them",
         lambda facts: facts.writes and "mpi_staging" in facts.apart),
    Knob("log", "mpi_logs", ("rank",), "a log for each rank, as ranks keep apart",
         lambda facts: facts.writes and "mpi_logs" in facts.apart),
)  # fmt: skip
# Tried with consent only: readers may notice how objects are stored.
LAYOUT_KNOBS: Final = (
    Knob("tune", "page", ("64KiB", "1MiB"), "metadata and small data that are stored together",
         lambda facts: facts.writes and facts.metadata > _SMALL, "HDF5 before 1.10.1"),
    Knob("tune", "page_buffer", ("4MiB", "64MiB"), "pages that are written and read whole",
         lambda facts: facts.metadata > _SMALL, "nobody: it is for files made of pages"),
    Knob("tune", "libver", ("latest",), "newer formats of groups, attributes and indexes",
         lambda facts: facts.writes and facts.metadata > _SMALL,
         "releases of HDF5 before the one that writes"),
    Knob("tune", "compact", ("1KiB", "8KiB"), "small datasets that are stored in their headers",
         lambda facts: facts.writes and facts.small_datasets > _SMALL, "nobody"),
    Knob("tune", "deflate", ("0", "1"), "chunks that take less time to compress",
         lambda facts: facts.writes and facts.deflated, "nobody"),
    Knob("tune", "chunk", (), "chunks of the shape that is accessed",
         lambda facts: facts.writes, "nobody"),  # shapes are those that the trace shows
    Knob("tune", "fill", ("never",), "storage that is written once, without a fill value before",
         lambda facts: facts.writes,
         "nobody, but where nothing was written they read whatever lies there"),
    *(
        Knob("stripe", option, values, what, lambda facts: facts.writes and facts.ranks > 1,
             "programs without the layer stripe or HDF5's subfiling, until `headrace fuse`")
        for option, values, what in (
            ("", (ON,), "ranks that do not wait for each other at one file: it lies in pieces"),
            ("per", ("rank",), "a piece of the file for each rank"),
            ("size", ("1MiB", "4MiB"), "stripes of the pieces that are as large as transfers"),
        )
    ),
)  # fmt: skip


def knobs_for(traces: Sequence[Trace], *, layout: bool = False) -> tuple[Knob, ...]:
    """Those that may matter to one of the programs; `layout`: also those that need consent.

    What ranks must be safe with, those of all programs must be.
    """
    facts = together([facts_of(each) for each in traces])
    known = KNOBS + MPI_KNOBS * (facts.ranks > 1) + LAYOUT_KNOBS * layout
    fitting = (knob for knob in known if knob.fits(facts))
    if layout:
        shapes = tuple(sorted({each for trace in traces for each in _chunk_shapes(trace)}))
        fitting = (
            replace(knob, values=shapes) if knob.option == "chunk" else knob for knob in fitting
        )
    return tuple(knob for knob in fitting if knob.values)


def _chunk_shapes(trace: Trace) -> Iterator[str]:
    """Those that fit how datasets are accessed whose chunks do not."""
    found = uses(trace)
    better = map(better_shape, Run(trace, found, totals(trace, found)).datasets)
    return ("x".join(map(str, each.extent)) for each in better if each)


def layers_of(candidate: Candidate) -> list[Setting]:
    """Those of its stack, from the program down."""
    used = {each.layer for each in candidate}
    return [Setting(layer) for layer in _ORDER if layer in used]


def completed(candidate: Candidate) -> Candidate:
    """The candidate with what its options need.

    Where readers may notice one of the layer tune, that is the consent; where one counts on ranks
    that keep apart, a check that they do.
    """
    noticed = (each for each in candidate if each.layer == CONSENT.layer)
    needs = {CONSENT} if any(map(unreadable_by, noticed)) else set()
    if candidate & APART:
        needs |= {Setting("tune"), CHECK}
    return candidate | needs


def stack_of(candidate: Candidate) -> str:
    """As `headrace run --stack` takes it; `native` where nothing is set."""
    layers = []
    candidate = completed(candidate)
    for layer in layers_of(candidate):
        mine = sorted(each for each in candidate if each.layer == layer.layer and each.option)
        options = ",".join(f"{each.option}={each.value}" for each in mine)
        layers.append(f"{layer}({options})" if options else str(layer))
    return ",".join(layers) or "native"


def without(candidate: Candidate, setting: Setting) -> Candidate:
    """The candidate without a setting; without a layer, without its options."""
    if setting.option:
        return candidate - {setting}
    return frozenset(each for each in candidate if each.layer != setting.layer)


def reason_of(setting: Setting) -> str:
    """Why a setting may help."""
    return next((each.reason for each in _knobs_of(setting)), "")


def unreadable_by(setting: Setting) -> str:
    """Who cannot read a file any more that was written with it; empty if nobody can notice."""
    return next((each.unreadable for each in _knobs_of(setting)), "")


def _knobs_of(setting: Setting) -> Iterator[Knob]:
    return (
        each
        for each in KNOBS + MPI_KNOBS + LAYOUT_KNOBS
        if (each.layer, each.option) == (setting.layer, setting.option)
    )


def together(all_: Sequence[Facts]) -> Facts:
    """Of several programs: the most of each, and of ranks what holds for all that have some."""
    parallel = [each for each in all_ if each.ranks > 1]
    return Facts(
        max(each.small_contiguous for each in all_), max(each.metadata for each in all_),
        any(each.writes for each in all_), max(each.chunk_bytes for each in all_),
        max(each.small_datasets for each in all_), any(each.deflated for each in all_),
        max(each.ranks for each in all_), all(each.alike for each in parallel),
        frozenset.intersection(*(each.apart for each in parallel)) if parallel else frozenset(),
    )  # fmt: skip


def facts_of(trace: Trace) -> Facts:
    """Of all processes together."""
    transfers = small = requests = metadata = datasets = tiny = 0
    writes = deflated = False
    chunks = 0.0
    for seat in trace.seats:
        layouts = seat.process.datasets
        transfers += len(seat.transfers)
        small += _small_contiguous(seat, layouts)
        requests += len(seat.requests["type"])
        metadata += int((seat.requests["type"] != _RAW).sum())
        writes = writes or bool(seat.are((WRITE,)).any())
        chunks += sum(_decoded(each) for each in layouts.values())
        datasets += len(layouts)
        tiny += sum(_is_tiny(each) for each in layouts.values())
        deflated = deflated or any(
            "deflate" in str(each.get("filters")) for each in layouts.values()
        )
    return Facts(
        small / max(transfers, 1), metadata / max(requests, 1), writes, chunks,
        tiny / max(datasets, 1), deflated, len(trace.seats), _alike(trace), _apart(trace),
    )  # fmt: skip


def _alike(trace: Trace) -> bool:
    """Whether all ranks have made the same calls in the same order."""
    first, *others = (seat.calls["callback"] for seat in trace.seats)
    return all(np.array_equal(first, each) for each in others)


def _apart(trace: Trace) -> frozenset[str]:
    if len(trace.seats) == 1:
        return frozenset()
    return frozenset(each.setting for each in verdicts(find(trace)) if each.safe)


def _small_contiguous(seat: Seat, layouts: Mapping[int, Mapping[str, object]]) -> int:
    contiguous = [i for i, each in layouts.items() if each.get("layout") == "contiguous"]
    mine = np.isin(seat.calls["object"][seat.transfers], np.array(contiguous, np.int64))
    small = seat.calls["bytes"][seat.transfers] < _SIEVE
    return int((mine & small).sum())


def _is_tiny(layout: Mapping[str, object]) -> bool:
    return layout.get("layout") == "contiguous" and 0 < _bytes(layout) <= _TINY


def _decoded(layout: Mapping[str, object]) -> float:
    return _bytes(layout) if layout.get("filters") else 0.0


def _bytes(layout: Mapping[str, object]) -> float:
    """Of all elements; 0 where the trace does not tell."""
    dims, type_ = layout.get("dims"), layout.get("type")
    if not isinstance(dims, list) or not isinstance(type_, dict):
        return 0.0
    return float(np.prod(dims, dtype=np.float64)) * float(type_.get("size", 0))
