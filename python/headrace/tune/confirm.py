"""Whether a candidate is better than native HDF5, and what each of its settings gains."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from headrace.measuring.stats import Ratio, ratio
from headrace.tune.budget import OverError
from headrace.tune.runs import FEWEST_PAIRS
from headrace.tune.space import NATIVE, Candidate, Setting, without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headrace.tune.runs import Runs

PAIRS: Final = 5  # the fewest that an interval can be told of
_MOST: Final = 9
_NOTHING: Final = 1.01  # a gain that no more pairs would make worth a setting
UNTOLD: Final = Ratio(1.0, 0)  # there was no time to compare


@dataclass(frozen=True)
class Confirmed:
    """`gain`: how many times faster than native; of settings, than without them, or UNTOLD."""

    candidate: Candidate
    gain: Ratio
    shares: dict[Setting, Ratio]
    dropped: dict[Setting, Ratio]  # that gained nothing that could be told


def compare(runs: Runs, one: Candidate, other: Candidate) -> Ratio:
    """How many times faster `other` is than `one`, by runs in turns.

    As many pairs as it takes to say which is faster, from 5 on up to 9, or as there is time for;
    5 where `other` is no faster by their median.
    """
    times: tuple[dict[int, float], dict[int, float]] = ({}, {})
    with suppress(OverError):
        while runs.time_for((one, other)):
            number = len(times[0])
            both = ((one, times[0]), (other, times[1]))
            for candidate, found in both if number % 2 == 0 else reversed(both):
                found[number] = runs.seconds(candidate)
            made = ratio(*times)
            if number + 1 < PAIRS:
                continue
            if not made or made.verdict or made.median < _NOTHING or number + 1 >= _MOST:
                break
    return _of_few(*times) or ratio(*times) or Ratio(1.0, len(times[1]))


def _of_few(before: Mapping[int, float], after: Mapping[int, float]) -> Ratio | None:
    """Of 3 or 4 pairs, where all runs of one are faster than all of the other; else None.

    By chance that happens once in 20 times or more seldom.
    """
    made = ratio(before, after)
    if made is None or not FEWEST_PAIRS <= made.pairs < PAIRS:
        return None
    low = min(before.values()) / max(after.values())
    high = max(before.values()) / min(after.values())
    return replace(made, low=low, high=high) if low > 1 or high < 1 else None


def confirm(runs: Runs, candidate: Candidate, say: Callable[[Setting, Ratio], None]) -> Confirmed:
    """Leaves out what gains nothing, one by one, and compares the rest with native HDF5 afresh.

    Time for the latter is kept: settings that it leaves no time for stay, and are UNTOLD.
    """
    shares: dict[Setting, Ratio] = {}
    dropped: dict[Setting, Ratio] = {}
    # Options before their layers, which are nothing without them.
    for setting in sorted(candidate, key=lambda each: (not each.option, each)):
        rest = without(candidate, setting)
        needed = [rest, candidate, NATIVE, candidate] * PAIRS
        share = compare(runs, rest, candidate) if runs.time_for(needed) else UNTOLD
        say(setting, share)
        if share.verdict == "faster" or share is UNTOLD:
            shares[setting] = share
        else:
            dropped |= dict.fromkeys(candidate - rest, share)
            candidate = rest
    gain = compare(runs, NATIVE, candidate) if candidate else UNTOLD
    if gain.verdict != "faster":
        return Confirmed(NATIVE, gain, {}, dropped | shares)
    return Confirmed(candidate, gain, shares, dropped)
