"""From samples to what tables and figures show: one record per case, stack and number of ranks."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from headrace.bench import ledger as ledgers
from headrace.bench.stacks import native
from headrace.measuring.stats import Ratio, Spread, ratio

sides: Final = ("write", "read")
phase_names: Final = {
    "write": ("create", "select", "write", "flush", "close", "sync", "compute"),
    "read": ("open", "read", "close_read"),
}
# Seconds, of all rounds of a repeat: what took less tells nothing.
SHORTEST: Final = 0.02
_PAYLOAD: Final = {"write": "written", "read": "read"}
# Their payload is small, and what counts is the time.
_TIMED_KERNELS: Final = frozenset({"metadata", "h5py", "files"})


@dataclass(frozen=True, slots=True)
class Side:
    """Writing or reading: seconds over the repeats, payload bytes, and what it compares to."""

    seconds: Spread
    bytes: int
    ratio: Ratio | None = None
    # Median seconds for the same bytes through pwrite or pread.
    raw: float | None = None
    # It, or native's, took less than SHORTEST: the ratio tells nothing.
    short: bool = False

    @property
    def rate(self) -> float:
        """Payload bytes per second at the median."""
        return self.bytes / self.seconds.median if self.seconds.median else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """All that is known of a case under a stack."""

    kernel: str
    case: str
    stack: str
    ranks: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    hdf5: str = ""
    sides: Mapping[str, Side] = field(default_factory=dict)
    # Median seconds of the slowest rank.
    phases: Mapping[str, float] = field(default_factory=dict)
    file_bytes: int = 0
    errors: tuple[str, ...] = ()
    missing: str = ""
    ledger: Mapping[str, Any] | None = None
    # Why there is no ledger although one was asked for.
    uncounted: str = ""

    @property
    def count(self) -> int:
        """Good samples."""
        return max((side.seconds.count for side in self.sides.values()), default=0)


def in_seconds(kernel: str) -> bool:
    """Whether seconds rather than bytes per second tell the kernel's story."""
    return kernel in _TIMED_KERNELS


def rows(
    samples: Iterable[Mapping[str, Any]], ledger_records: Iterable[Mapping[str, Any]] = ()
) -> list[Row]:
    """In the order in which cases and stacks first appear, failed and missing ones included."""
    groups: dict[tuple[str, str, int], dict[str, list[Mapping[str, Any]]]] = {}
    for sample in samples:
        if not sample.get("warmup"):
            case = (str(sample["kernel"]), str(sample["case"]), int(sample.get("ranks", 1)))
            groups.setdefault(case, {}).setdefault(str(sample["stack"]), []).append(sample)
    counted = {
        (each["kernel"], each["case"], each.get("ranks", 1), each["stack"]): each
        for each in ledger_records
    }
    return [
        _row((*case, stack), mine, stacks, counted.get((*case, stack), {}))
        for case, stacks in groups.items()
        for stack, mine in stacks.items()
    ]


def as_json(row: Row) -> dict[str, Any]:
    """For programs."""
    record = asdict(row)
    for name, side in row.sides.items():
        record["sides"][name]["bytes_per_second"] = side.rate
    return record


def failures(found: Iterable[Row], ledger_records: Iterable[Mapping[str, Any]]) -> list[str]:
    """One sentence for each failed case, and for each that could not be counted."""
    uncounted = [
        f"{each['kernel']} {each['case']}, {each['stack']}: {each['error']}"
        for each in ledger_records
        if "error" in each
    ]
    measured = [
        f"{row.kernel} {row.case}, {row.stack}"
        + (f", {row.ranks} ranks" if row.ranks > 1 else "")
        + f": {error}"
        for row in found
        for error in row.errors
    ]
    return measured + uncounted


def _row(
    key: tuple[str, str, int, str],
    mine: Sequence[Mapping[str, Any]],
    stacks: Mapping[str, Sequence[Mapping[str, Any]]],
    ledger: Mapping[str, Any],
) -> Row:
    kernel, case, ranks, stack = key
    good = [sample for sample in mine if _is_good(sample)]
    everything = [sample for group in stacks.values() for sample in group if _is_good(sample)]
    reference = [sample for sample in stacks.get(native, ()) if _is_good(sample)]
    found = {
        name: side
        for name in sides
        if (side := _side(name, good, reference if stack != native else (), everything))
    }
    last = good[-1] if good else {}
    payload = last.get("bytes", {})
    return Row(
        kernel,
        case,
        stack,
        ranks,
        last.get("parameters", {}),
        str(last.get("hdf5", "")),
        found,
        _phases(good),
        int(payload.get("file", 0)),
        tuple(dict.fromkeys(str(sample["error"]) for sample in mine if "error" in sample)),
        next((str(sample["missing"]) for sample in mine if "missing" in sample), ""),
        ledgers.derived(ledger["ledger"], payload) if "ledger" in ledger and good else None,
        str(ledger.get("missing", ledger.get("error", ""))),
    )


def _side(
    name: str,
    good: Sequence[Mapping[str, Any]],
    reference: Sequence[Mapping[str, Any]],
    everything: Sequence[Mapping[str, Any]],
) -> Side | None:
    wall = f"{name}_wall"
    mine = _by_repeat(good, wall)
    if not mine:
        return None
    payload = int(good[-1].get("bytes", {}).get(_PAYLOAD[name], 0))
    return Side(
        Spread.of(list(mine.values())),
        payload,
        ratio(_by_repeat(reference, wall), mine),
        _raw(name, payload, everything),
        any(_too_short(samples, wall) for samples in (good, reference)),
    )


def _too_short(samples: Sequence[Mapping[str, Any]], wall: str) -> bool:
    measured = [float(s[wall]) * int(s.get("rounds", 1)) for s in samples if s.get(wall)]
    return bool(measured) and statistics.median(measured) < SHORTEST


def _by_repeat(samples: Sequence[Mapping[str, Any]], wall: str) -> dict[int, float]:
    return {
        int(sample["repeat"]): float(sample[wall])
        for sample in samples
        if sample.get(wall) is not None
    }


def _raw(name: str, payload: int, samples: Sequence[Mapping[str, Any]]) -> float | None:
    """Over all stacks, since what lies below them is the same; scaled to the payload."""
    values = [
        float(base[name]) * payload / int(base["bytes"])
        for base in (sample.get("baseline") or {} for sample in samples)
        if base.get(name) and base.get("bytes")
    ]
    return statistics.median(values) if values and payload else None


def _phases(samples: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, seconds in sample.get("phases", {}).items():
            values.setdefault(name, []).append(float(seconds["max"]))
    return {name: statistics.median(each) for name, each in values.items()}


def _is_good(sample: Mapping[str, Any]) -> bool:
    return "error" not in sample and "missing" not in sample
