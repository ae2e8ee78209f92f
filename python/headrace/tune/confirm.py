"""Whether a candidate is better than native HDF5, and what each of its settings gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.bench.stats import Ratio, ratio
from headrace.tune.space import NATIVE, Candidate, Setting, without

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS: Final = 5  # the fewest that an interval can be told of
_MOST: Final = 9


@dataclass(frozen=True)
class Confirmed:
    """`gain`: how many times faster than native; of settings, than without them."""

    candidate: Candidate
    gain: Ratio
    shares: dict[Setting, Ratio]
    dropped: dict[Setting, Ratio]  # that gained nothing that could be told


def compare(measure: Callable[[Candidate], float], one: Candidate, other: Candidate) -> Ratio:
    """How many times faster `other` is than `one`, by runs in turns.

    As many pairs as it takes to say which is faster, up to 9.
    """
    times: tuple[dict[int, float], dict[int, float]] = ({}, {})
    while True:
        number = len(times[0])
        both = ((one, times[0]), (other, times[1]))
        for candidate, found in both if number % 2 == 0 else reversed(both):
            found[number] = measure(candidate)
        made = ratio(*times)
        if number + 1 < PAIRS:
            continue
        if made is None:
            return Ratio(1.0, number + 1)
        if made.verdict or number + 1 >= _MOST:
            return made


def confirm(
    measure: Callable[[Candidate], float],
    candidate: Candidate,
    say: Callable[[Setting, Ratio], None],
) -> Confirmed:
    """Leaves out what gains nothing, one by one, and compares the rest with native HDF5 afresh."""
    shares: dict[Setting, Ratio] = {}
    dropped: dict[Setting, Ratio] = {}
    # Options before their layers, which are nothing without them.
    for setting in sorted(candidate, key=lambda each: (not each.option, each)):
        rest = without(candidate, setting)
        share = compare(measure, rest, candidate)
        say(setting, share)
        if share.verdict == "faster":
            shares[setting] = share
        else:
            dropped |= dict.fromkeys(candidate - rest, share)
            candidate = rest
    gain = compare(measure, NATIVE, candidate) if candidate else Ratio(1.0, 0)
    if gain.verdict != "faster":
        return Confirmed(NATIVE, gain, {}, dropped | shares)
    return Confirmed(candidate, gain, shares, dropped)
