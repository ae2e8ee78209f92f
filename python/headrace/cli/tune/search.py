"""What `headrace tune` does once there is a trace; needs what a base has not."""

from __future__ import annotations

import datetime
import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.cli.output import console, fail, note, warn
from headrace.errors import FileError
from headrace.measuring import machine
from headrace.trace.analysis.signature import mean, signature
from headrace.trace.analysis.summary import totals, uses
from headrace.trace.model.reader import read
from headrace.trace.replay import compare
from headrace.tune import confirm, known, space, written
from headrace.tune.budget import OverError
from headrace.tune.differing import program_of
from headrace.tune.replays import Replays
from headrace.tune.runs import Runs
from headrace.tune.search import Found, Trial
from headrace.tune.search import search as look
from headrace.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headrace.measuring.stats import Ratio
    from headrace.trace.model.reader import Trace
    from headrace.trace.replay.choices import Choices
    from headrace.tune.budget import Budget
    from headrace.tune.space import Candidate, Setting

_LEAST: Final = 1e-3  # seconds in HDF5 that a search is worth


@dataclass(frozen=True)
class Wanted:
    """`wall`: seconds that the program ran here; None where its trace was named."""

    output: Path
    layout: bool
    budget: Budget
    wall: float | None


def search(traces: Sequence[Path], room: Path, choices: Choices, wanted: Wanted) -> None:
    """Tells of what it tries; ends within the budget, or soon after it."""
    opened = [read(each) for each in traces]
    spent = _spent(opened, wanted.wall)
    if spent.inside < _LEAST:
        fail(f"{traces[0]}: of {seconds(spent.whole)} only {seconds(spent.inside)} were in HDF5, "
             "so no setting makes it faster. If the program did more with HDF5 files, "
             "`headrace doctor -- COMMAND` says what passed the layers by", 1)  # fmt: skip
    _say(f"{seconds(spent.inside)} of the {seconds(spent.whole)} of the program were in HDF5")
    storage = machine.storage(wanted.output.absolute().parent)
    about = written.About(
        _command_of(opened[0]), str(storage.get("file_system", "")),
        _version_of(opened[0]), datetime.datetime.now(datetime.UTC).date().isoformat(),
        mean([signature(each) for each in opened]), spent=spent,
    )  # fmt: skip
    knobs = space.knobs_for(opened, layout=wanted.layout)
    try:
        runs = Runs(Replays(traces, room / "replays", choices, wanted.budget).seconds,
                    wanted.budget)  # fmt: skip
        searched = look(runs, knobs, _tell_trial, _known_for(about))
    except OverError:
        _fail_of_time(traces, wanted)
    native = searched.trials[0]
    if not math.isfinite(native.seconds):
        raise FileError(f"{traces[0]}: it cannot be replayed: {native.why}")
    if len(searched.trials) == 1:
        _fail_of_time(traces, wanted)
    _compare(runs, searched, about, wanted.output)


def _compare(runs: Runs, searched: Found, about: written.About, output: Path) -> None:
    best = searched.best.candidate
    if best:
        _say(f"the best of {len(searched.trials)} is {space.stack_of(best)}; comparing it with "
             "native HDF5, and each setting with none")  # fmt: skip
    found = confirm.confirm(runs, best, _tell_share)
    if found.candidate:
        _keep(about, found.candidate)
        tried = {str(each): written.gain_of(share) for each, share in found.dropped.items()}
        tried |= {space.stack_of(each.candidate): each.why for each in searched.trials if each.why}
        written.write(output, found, about, tried)
        _say(f"written: {output}: {written.against(about, found.gain)}")
    elif best and found.gain.pairs < confirm.PAIRS:
        _tell_best(searched, found.gain, about)
    else:
        _keep(about, space.NATIVE)
        note("nothing that was tried is surely faster than native HDF5: nothing is written")


def _tell_best(searched: Found, gain: Ratio, about: written.About) -> None:
    """The time was over before it was surely faster."""
    best, native = searched.best, searched.trials[0]
    told = (f"the best so far: {seconds(best.seconds)} in HDF5, and native "
            f"{seconds(native.seconds)}, by one run each")  # fmt: skip
    if gain.pairs:
        pairs = "a pair" if gain.pairs == 1 else f"{gain.pairs} pairs"
        told = f"the best so far, by {pairs} of runs: {written.against(about, gain)}"
    command = shlex.join(about.command) if about.command else "COMMAND"
    _say(f"{told}: headrace run --stack {shlex.quote(space.stack_of(best.candidate))} -- {command}")
    note("these are too few runs to be sure: nothing is written. A longer --budget tells more")


def _fail_of_time(traces: Sequence[Path], wanted: Wanted) -> None:
    budget = wanted.budget
    program = "" if wanted.wall is None else f", {seconds(wanted.wall)} of them for the program"
    fail(f"the budget of {budget.seconds:.0f} s was over before anything was compared with native "
         f"HDF5 ({seconds(budget.used)} used{program}): name the trace, and a longer one: "
         f"headrace tune --budget {max(4 * budget.used, 60) / 60:.0f}min "
         f"{shlex.join(map(str, traces))}", 1)  # fmt: skip


def _spent(opened: Sequence[Trace], wall: float | None) -> written.Spent:
    inside = sum(max(map(compare.seconds, each.seats)) for each in opened)
    spans = (totals(each, uses(each)).span for each in opened)
    return written.Spent(inside, max(sum(spans), inside, wall or 0))


def _known_for(about: written.About) -> Candidate:
    """What a search before found for a program like it; trying it first is all that it is for."""
    try:
        found = known.nearest(dict(about.signature), about.file_system)
    except FileError as error:
        warn(f"searches before are not looked at: {error}")
        return space.NATIVE
    if found:
        note(f"a program like it was fastest under {space.stack_of(found)}, which is tried first")
    return found


def _keep(about: written.About, candidate: Candidate) -> None:
    program = program_of(about.command) if about.command else ""
    try:
        known.keep(dict(about.signature), candidate, program, about.file_system)
    except FileError as error:
        warn(f"what was found is not kept for other searches: {error}")


def _say(text: str) -> None:
    console().print(text, soft_wrap=True, markup=False, highlight=False)


def _tell_trial(trial: Trial) -> None:
    outcome = trial.why or f"{seconds(trial.seconds)} in HDF5"
    _say(f"{space.stack_of(trial.candidate)}: {outcome}")


def _tell_share(setting: Setting, share: Ratio) -> None:
    kept = "" if share.verdict == "faster" or not share.pairs else "; left out"
    _say(f"{setting}: {written.share_of(share)}{kept}")


def _command_of(trace: Trace) -> list[str]:
    return [str(each) for each in trace.processes[0].about.get("command") or []]


def _version_of(trace: Trace) -> str:
    return str(trace.processes[0].about.get("hdf5", ""))
