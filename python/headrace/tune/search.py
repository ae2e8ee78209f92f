"""Tries candidates until the gain has settled, or the time is up."""

from __future__ import annotations

import math
import statistics
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from headrace.errors import HeadraceError
from headrace.tune.budget import OverError
from headrace.tune.runs import FEWEST_PAIRS
from headrace.tune.space import NATIVE, ON, Candidate, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import optuna

    from headrace.tune.runs import Runs
    from headrace.tune.space import Knob

# Those that gain most of most programs first.
_STACKS: Final = (("tune", "async"), ("async",), ("tune", "async", "log"), ("tune",), ("log",))
_SETTLED: Final = 8  # trials after the last that was better
_BETTER: Final = 0.98  # of the time of the best before
_OFF: Final = "off"
_FINALISTS: Final = 4  # the fastest by one run each
_NEAR: Final = 1.15  # times the fastest: slower than that by one run is slower
_TURNS: Final = 2  # more runs of each finalist


@dataclass(frozen=True)
class Trial:
    """`seconds`: infinite where the candidate failed, and `why` says how."""

    candidate: Candidate
    seconds: float
    why: str = ""


@dataclass(frozen=True)
class Found:
    """All that was tried, in order, and the fastest by the medians of several runs."""

    trials: list[Trial]
    best: Trial


def search(
    runs: Runs,
    knobs: Sequence[Knob],
    say: Callable[[Trial], None],
    known: Candidate = NATIVE,
) -> Found:
    """Tries candidates, then those that were fastest by one run again, by turns.

    Native HDF5 comes first, then `known`, what was best for a program like this, then what is most
    likely to gain most: whole stacks, and then each layer alone. Raises what the first run raises.
    """
    import optuna  # noqa: PLC0415, takes a second to import

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=2 * _SETTLED)
    study = optuna.create_study(sampler=sampler)
    for each in _first(knobs, known):
        study.enqueue_trial({knob.name: _value(each, knob) for knob in knobs}, skip_if_exists=True)
    tried: dict[Candidate, Trial] = {}
    best, since, repeated = math.inf, 0, 0
    while since < _SETTLED and repeated < _SETTLED and runs.may_search():
        asked = study.ask()
        candidate = _candidate(asked, knobs)
        if candidate in tried:  # the optimiser wants to look there again
            study.tell(asked, min(tried[candidate].seconds, 1e9))
            repeated += 1
            continue
        repeated = 0
        try:
            made = tried[candidate] = _try(runs, candidate)
        except OverError:
            if not tried:
                raise
            break
        say(made)
        study.tell(asked, min(made.seconds, 1e9))
        since = 0 if made.seconds < _BETTER * best else since + 1
        best = min(best, made.seconds)
    trials = list(tried.values())
    return Found(trials, _best_of(runs, trials))


def _best_of(runs: Runs, trials: Sequence[Trial]) -> Trial:
    """The fastest of one run may have been lucky, so that it and those near it run again."""
    fastest = sorted(trials, key=lambda each: each.seconds)[:_FINALISTS]
    near = [each for each in fastest if each.seconds <= _NEAR * fastest[0].seconds]
    if len(near) == 1 or not math.isfinite(near[0].seconds):
        return near[0]
    times = {each: [each.seconds] for each in near}
    compared = [NATIVE, near[0].candidate] * FEWEST_PAIRS
    with suppress(OverError):
        for _ in range(_TURNS):
            if not runs.time_for([*compared, *(each.candidate for each in near)]):
                break
            for each, seconds in times.items():
                seconds.append(_try(runs, each.candidate).seconds)
    medians = (replace(each, seconds=statistics.median(times[each])) for each in near)
    return min(medians, key=lambda each: each.seconds)


def _first(knobs: Sequence[Knob], known: Candidate) -> Iterable[Candidate]:
    layers = {knob.layer for knob in knobs if not knob.option}
    fitting = (frozenset(map(Setting, each)) for each in _STACKS if layers.issuperset(each))
    others = (frozenset({Setting(each)}) for each in sorted(layers))
    return [NATIVE, known, *fitting, *others]


def _value(candidate: Candidate, knob: Knob) -> str:
    mine = (each.value for each in candidate
            if (each.layer, each.option) == (knob.layer, knob.option))  # fmt: skip
    value = next(mine, _OFF)
    return value if value in knob.values else _OFF


def _candidate(asked: optuna.Trial, knobs: Sequence[Knob]) -> Candidate:
    chosen = {}
    for knob in knobs:
        chosen[knob] = asked.suggest_categorical(knob.name, [_OFF, *knob.values])
    on = {knob.layer for knob, value in chosen.items() if not knob.option and value == ON}
    return frozenset(
        Setting(knob.layer, knob.option, value)
        for knob, value in chosen.items()
        if value != _OFF and knob.layer in on
    )


def _try(runs: Runs, candidate: Candidate) -> Trial:
    try:
        return Trial(candidate, runs.seconds(candidate))
    except HeadraceError as error:
        return Trial(candidate, math.inf, str(error))
