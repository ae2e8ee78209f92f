"""What was found, in words and counts: for who reads nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headrace import units
from headrace.bench.stacks import native
from headrace.bench.summary import SHORTEST, Row, Side, sides

# Without an interval, which takes five repeats, a smaller difference is called none.
LEAST: Final = 1.1
_DOING: Final = {"write": "writing", "read": "reading"}
# Programs that ran or waited before the run began, per core, from which on they were in its way.
_BUSY: Final = 0.5


@dataclass(slots=True)
class Tally:
    """How many cases a stack makes faster or slower, and those that it changes most."""

    faster: int = 0
    slower: int = 0
    same: int = 0
    short: int = 0
    failed: int = 0
    # Ratio and case of those that can be judged.
    ratios: list[tuple[float, str]] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """Cases that tell something."""
        return len(self.ratios)

    def best(self) -> str:
        """The case that gained most; empty when none is faster."""
        ratio, case = max(self.ratios, default=(1.0, ""))
        return f"{units.times(ratio)} in {case}" if self.faster else ""

    def worst(self) -> str:
        """The case that lost most; empty when none is slower."""
        ratio, case = min(self.ratios, default=(1.0, ""))
        return f"{units.times(ratio)} in {case}" if self.slower else ""


def verdict(side: Side) -> str:
    """Says "faster", "slower", "same" or "short"; nothing where there is no ratio."""
    if side.ratio is None:
        return ""
    if side.short:
        return "short"
    if side.ratio.coverage is not None:
        return side.ratio.verdict or "same"
    ratio = side.ratio.median
    return "faster" if ratio >= LEAST else "slower" if ratio <= 1 / LEAST else "same"


def tally(rows: Sequence[Row], side: str) -> Tally:
    """Of rows of one stack; names of cases tell the kernel and the ranks where these differ."""
    kernels = len({row.kernel for row in rows}) > 1
    ranks = len({row.ranks for row in rows}) > 1
    found = Tally()
    for row in rows:
        if row.errors:
            found.failed += 1
        if side not in row.sides:
            continue
        said = verdict(row.sides[side])
        if said:
            setattr(found, said, getattr(found, said) + 1)
        ratio = row.sides[side].ratio
        if ratio is not None and said != "short":
            name = f"{row.kernel} {row.case}" if kernels else row.case
            name += f" on {_many(row.ranks, 'rank')}" if ranks else ""
            found.ratios.append((ratio.median, name))
    return found


def overview(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each kernel, number of ranks, stack and side."""
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row.stack != native and not row.missing:
            groups.setdefault((row.kernel, row.ranks, row.stack), []).append(row)
    return [
        {
            "kernel": f"{kernel}, {ranks} ranks" if ranks > 1 else kernel,
            "stack": stack,
            "side": side,
            "tally": tally(mine, side),
        }
        for (kernel, ranks, stack), mine in groups.items()
        for side in sides
        if any(side in row.sides or row.errors for row in mine)
    ]


def sentences(about: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    """What each stack changes, then how much was measured, and what to be careful with."""
    if not any(row.sides for row in rows):
        return ["Nothing was measured."]
    stacks = [name for name in dict.fromkeys(row.stack for row in rows) if name != native]
    compared = []
    for stack in stacks:
        mine = [row for row in rows if row.stack == stack]
        said = [text for side in sides if (text := _side(side, mine))]
        if said:
            compared.append(f"Under {stack}, against native HDF5, {'; '.join(said)}.")
    return [*compared, _measured(about, rows, stacks), *_cautions(about, rows)]


def _side(side: str, rows: Sequence[Row]) -> str:
    found = tally(rows, side)
    if not found.judged:
        return ""
    counts = {"faster": found.faster, "slower": found.slower, "no different": found.same}
    parts = [f"{name} in {count}" for name, count in counts.items() if count]
    where = f" of {_many(found.judged, 'case')}"
    if len(parts) == 1:
        (name,) = [name for name, count in counts.items() if count]
        parts = [name]
        where = {1: " in the one case", 2: " in both cases"}.get(
            found.judged, f" in all {found.judged} cases"
        )
    extremes = []
    if found.judged == 1:
        extremes.append(units.times(found.ratios[0][0]))
    else:
        extremes += [f"most {best}"] if (best := found.best()) else []
        extremes += [f"least {worst}"] if (worst := found.worst()) else []
    more = f" ({'; '.join(extremes)})" if extremes else ""
    return f"{_DOING[side]} was {_and(parts)}{where}{more}"


def _measured(about: Mapping[str, Any], rows: Sequence[Row], stacks: Sequence[str]) -> str:
    cases = {(row.kernel, row.case, row.ranks) for row in rows if row.sides}
    kernels = {kernel for kernel, _, _ in cases}
    repeats = about.get("options", {}).get("repeats")
    times = {None: "", 1: ", once each", 2: ", twice each"}.get(repeats, f", {repeats} times each")
    what = _many(len(cases), "case") + (f" of {len(kernels)} kernels" if len(kernels) > 1 else "")
    were = "was" if len(cases) == 1 else "were"
    if stacks:
        return f"{what} {were} measured natively and under {_and(stacks)}{times}."
    return (
        f"{what} {were} measured on native HDF5 only{times}: there is no stack to compare it with. "
        "Each case stands beside what the same bytes take through plain pwrite and pread (raw)."
    )


def _cautions(about: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    said = []
    failed = {(row.kernel, row.case, row.ranks) for row in rows if row.errors}
    if failed:
        said.append(f"{_many(len(failed), 'case')} failed, see below.")
    short = {
        (row.kernel, row.case, row.ranks)
        for row in rows
        for side in row.sides.values()
        if verdict(side) == "short"
    }
    if short:
        said.append(
            f"{_many(len(short), 'case')} took less than {SHORTEST * 1000:.0f} ms to write or to "
            "read, which is too short to judge."
        )
    machine = about.get("machine", {})
    load, cores = machine.get("load_before"), machine.get("cores")
    if load and cores and float(load[0]) > _BUSY * int(cores):
        said.append(
            f"The machine was busy with other work when the run began (load {load[0]} on "
            f"{_many(int(cores), 'core')}): figures scatter more than they would otherwise."
        )
    return said


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
