"""What advice gains in replays of the trace, in place of what is derived from its calls."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.trace.replay.run import NATIVE, prepared, replay
from headrace.units import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headrace.trace.analysis.advice.advice import Advice
    from headrace.trace.replay.choices import Choices

_REPEATS: Final = 3


def measured(trace: Path, found: Sequence[Advice], choices: Choices) -> list[Advice]:
    """The advice again, that which promises most first.

    Where a stack does what is advised, the gain is what replays under it spare over native ones,
    beside the trace and with the times in which the program computed; what spares nothing is left
    out. Of other advice the gain stays an estimate. Raises FileError for what cannot be replayed.
    """
    stacks = dict.fromkeys(each.stack for each in found if each.stack)
    spent, inputs = _spent(trace, (NATIVE, *stacks), choices) if stacks else ({}, "")
    told = [_with_gain(each, spent, inputs) if each.stack else each for each in found]
    return sorted((each for each in told if each.gain > 0), key=lambda each: -each.gain)


def _spent(trace: Path, stacks: Iterable[str], choices: Choices) -> tuple[dict[str, float], str]:
    """The median of the seconds in HDF5, by stack; and what the replays read that is made up."""
    found: dict[str, list[float]] = {stack: [] for stack in stacks}
    with tempfile.TemporaryDirectory(prefix=f".{trace.name}-", dir=trace.absolute().parent) as room:
        choices = prepared(trace.absolute(), Path(room) / "values", choices)
        for repeat in range(_REPEATS):
            for number, stack in enumerate(found):
                made = replay(trace.absolute(), stack, Path(room) / f"{repeat}-{number}", choices)
                found[stack].append(made.likeness.replayed_seconds)
    inputs = "".join(f"; {each.words}" for each in choices.stand_ins.values())
    return {stack: statistics.median(each) for stack, each in found.items()}, inputs


def _with_gain(advice: Advice, spent: dict[str, float], inputs: str) -> Advice:
    native, ours = spent[NATIVE], spent[advice.stack]
    return replace(
        advice,
        gain=native - ours,
        estimate=f"replays of this trace took {seconds(native)} in HDF5 natively and "
        f"{seconds(ours)} with `--stack {advice.stack}`, medians of {_REPEATS}{inputs}",
    )
