"""Whether operations have become dearer than the reference says, and which functions did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.cost.count import Cell, Counts
from bench.cost.reference import Reference, unkept
from bench.cost.stacks import NATIVE, varies

_TOLERANCE = 0.02
_TOLERANCE_OF_VARYING = 0.03
# Another compiler or libc makes other instructions of the same: what is compared is the ratio to
# native, roughly.
_TOLERANCE_OF_OTHERS = 0.1
_FEW = 20  # instructions, which are no matter
_SHOWN = 6


@dataclass(frozen=True)
class Verdict:
    """Operations of one stack; `dearer` and `cheaper` are the reasons, by operation."""

    dearer: Mapping[str, str]
    cheaper: Mapping[str, str]


def judge(version: str, stack: str, now: Counts, native: Counts, reference: Reference) -> Verdict:
    """`native` is of the same run, and needed where the reference is of other tools."""
    dearer: dict[str, str] = {}
    cheaper: dict[str, str] = {}
    for operation, cell in now.cells.items():
        then = reference.cell(version, stack, operation)
        then_native = reference.cell(version, NATIVE, operation)
        if then is None or then_native is None:
            dearer[operation] = "is not in the reference: `bench/cost/run.py --write`"
            continue
        expected = float(then.instructions)
        tolerance = _TOLERANCE_OF_VARYING if varies(stack) else _TOLERANCE
        if now.toolchain != reference.counts[version][stack].toolchain:
            expected *= native.cells[operation].instructions / then_native.instructions
            tolerance = _TOLERANCE_OF_OTHERS
        change = cell.instructions / expected - 1
        if abs(cell.instructions - expected) <= _FEW or abs(change) <= tolerance:
            continue
        told = f"{expected:.0f} -> {cell.instructions} instructions ({change:+.1%})"
        if change < 0:
            cheaper[operation] = told
        else:
            functions = "\n".join(
                f"    {line}" for line in whose(cell, then, native.cells[operation])
            )
            dearer[operation] = f"{told}\n{functions}"
    return Verdict(dearer, cheaper)


def whose(now: Cell, then: Cell, native: Cell) -> list[str]:
    """What has grown most, of each kind."""
    added = {name: count - native.of.get(name, 0) for name, count in now.of.items()}
    return [
        *_grown("code of", now.parts, then.parts, 0),
        *_grown("with what it calls,", now.within, then.within, unkept(then.within, then)),
        *_grown("beyond native, by itself,", added, then.of, unkept(then.of, then)),
    ]


def _grown(kind: str, now: Mapping[str, int], then: Mapping[str, int], unkept: int) -> list[str]:
    growth = {name: count - then.get(name, min(unkept, count)) for name, count in now.items()}
    ranked = sorted(growth.items(), key=lambda each: (-each[1], each[0]))
    return [
        f"{kind} {name}: {then.get(name, f'at most {unkept}')} -> {now[name]}"
        for name, more in ranked[:_SHOWN]
        if more > _FEW / 2
    ]


def text(version: str, stack: str, verdict: Verdict) -> str:
    """For people; empty when nothing has changed."""
    lines = [f"  {operation}: {told}" for operation, told in verdict.dearer.items()]
    if lines:
        lines.insert(0, f"HDF5 {version}, {stack}: dearer than bench/cost/reference.json says")
    if verdict.cheaper:
        lines.append(
            f"HDF5 {version}, {stack}: cheaper; `bench/cost/run.py --write` lowers the reference"
        )
        lines += [f"  {operation}: {told}" for operation, told in verdict.cheaper.items()]
    return "\n".join(lines)
