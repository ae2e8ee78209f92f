"""Tries candidates until the gain has settled, or the time is up."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.errors import HeadraceError
from headrace.tune.space import NATIVE, ON, Candidate, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import optuna

    from headrace.tune.space import Knob

_SETTLED: Final = 8  # trials after the last that was better
_BETTER: Final = 0.98  # of the time of the best before
_OFF: Final = "off"


@dataclass(frozen=True)
class Trial:
    """`seconds`: infinite where the candidate failed, and `why` says how."""

    candidate: Candidate
    seconds: float
    why: str = ""


def search(
    measure: Callable[[Candidate], float],
    knobs: Sequence[Knob],
    budget: float,
    say: Callable[[Trial], None],
    known: Candidate = NATIVE,
) -> list[Trial]:
    """All that was tried, in order.

    Native HDF5 comes first, then `known`, what was best for a program like this, then each layer
    alone. `budget`: seconds, after which no more begins.
    """
    import optuna  # noqa: PLC0415, takes a second to import

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=2 * _SETTLED)
    study = optuna.create_study(sampler=sampler)
    for each in _first(knobs, known):
        study.enqueue_trial({knob.name: _value(each, knob) for knob in knobs}, skip_if_exists=True)
    tried: dict[Candidate, Trial] = {}
    end = time.monotonic() + budget
    best, since, repeated = math.inf, 0, 0
    while since < _SETTLED and repeated < _SETTLED and (not tried or time.monotonic() < end):
        asked = study.ask()
        candidate = _candidate(asked, knobs)
        if candidate in tried:  # the optimiser wants to look there again
            study.tell(asked, min(tried[candidate].seconds, 1e9))
            repeated += 1
            continue
        repeated = 0
        made = tried[candidate] = _try(measure, candidate)
        say(made)
        study.tell(asked, min(made.seconds, 1e9))
        since = 0 if made.seconds < _BETTER * best else since + 1
        best = min(best, made.seconds)
    return list(tried.values())


def _first(knobs: Sequence[Knob], known: Candidate) -> Iterable[Candidate]:
    layers = [frozenset({Setting(knob.layer)}) for knob in knobs if not knob.option]
    return [NATIVE, known, *layers, frozenset().union(*layers[:2])]


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


def _try(measure: Callable[[Candidate], float], candidate: Candidate) -> Trial:
    try:
        return Trial(candidate, measure(candidate))
    except HeadraceError as error:
        return Trial(candidate, math.inf, str(error))
