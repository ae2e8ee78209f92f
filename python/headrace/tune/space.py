"""What a search may try: layers, and options of theirs that leave files as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.seats import WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headrace.trace.reader import Trace
    from headrace.trace.seats import Seat

ON: Final = "on"
_ORDER: Final = ("tune", "async", "log")  # from the program down
_SIEVE: Final = 64 << 10  # bytes that HDF5's has
_SMALL: Final = 0.05  # of all requests, or of all time, that are worth a setting
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


def knobs_for(trace: Trace) -> tuple[Knob, ...]:
    """Those that may matter to the program."""
    facts = facts_of(trace)
    return tuple(knob for knob in KNOBS if knob.fits(facts))


def layers_of(candidate: Candidate) -> list[Setting]:
    """Those of its stack, from the program down."""
    used = {each.layer for each in candidate}
    return [Setting(layer) for layer in _ORDER if layer in used]


def stack_of(candidate: Candidate) -> str:
    """As `headrace run --stack` takes it; `native` where nothing is set."""
    layers = []
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
    found = (each for each in KNOBS if (each.layer, each.option) == (setting.layer, setting.option))
    return next((each.reason for each in found), "")


def facts_of(trace: Trace) -> Facts:
    """Of all processes together."""
    transfers = small = requests = metadata = 0
    writes = False
    chunks = 0.0
    for seat in trace.seats:
        layouts = seat.process.datasets
        transfers += len(seat.transfers)
        small += _small_contiguous(seat, layouts)
        requests += len(seat.requests["type"])
        metadata += int((seat.requests["type"] != _RAW).sum())
        writes = writes or bool(seat.are((WRITE,)).any())
        chunks += sum(_decoded(each) for each in layouts.values())
    return Facts(small / max(transfers, 1), metadata / max(requests, 1), writes, chunks)


def _small_contiguous(seat: Seat, layouts: Mapping[int, Mapping[str, object]]) -> int:
    contiguous = [i for i, each in layouts.items() if each.get("layout") == "contiguous"]
    mine = np.isin(seat.calls["object"][seat.transfers], np.array(contiguous, np.int64))
    small = seat.calls["bytes"][seat.transfers] < _SIEVE
    return int((mine & small).sum())


def _decoded(layout: Mapping[str, object]) -> float:
    dims, type_ = layout.get("dims"), layout.get("type")
    if not layout.get("filters") or not isinstance(dims, list) or not isinstance(type_, dict):
        return 0.0
    return float(np.prod(dims, dtype=np.float64)) * float(type_.get("size", 0))
