"""Replays of a trace under stacks, each in a process and a folder of its own."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare
from headrace.stripe.fuse import make_whole
from headrace.stripe.sets import find
from headrace.stripe.stub import read_stub
from headrace.trace.model.reader import read
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.compare import Likeness, likeness
from headrace.trace.replay.plan import Plan, plans
from headrace.trace.replay.processes import play, run
from headrace.trace.replay.stand_ins.inputs import files_of, with_stand_ins

if TYPE_CHECKING:
    from collections import Counter

NATIVE: Final = "native"
_LAYER: Final = "trace"
_TRACE: Final = "replay.hrtrace"
_ROUNDS: Final = 2
_TRIALS: Final = 10  # replays that are worth more than values of the program's sizes
_OUTPUT: Final = "HEADRACE_TRACE_OUTPUT"


@dataclass(frozen=True)
class Replay:
    """One replay. `differs`: what plain HDF5 reads otherwise than after the native one."""

    stack: str
    likeness: Likeness
    left_out: Counter[str]
    files: dict[str, str]
    contents: dict[str, dict[str, str]]


def differences(native: Replay, other: Replay) -> list[str]:
    """Names of objects that plain HDF5 does not read as it does after the native replay."""
    found = []
    for name, made in native.files.items():
        before = native.contents.get(made, {})
        after = other.contents.get(other.files[name], {})
        found += [
            f"{Path(made).name}: {each}"
            for each in sorted(before.keys() | after.keys())
            if before.get(each) != after.get(each)
        ]
    return found


def replay(trace: Path, stack: str, folder: Path, choices: Choices) -> Replay:
    """One replay in `folder`, which is made; raises FileError and errors of the stack."""
    made = _plans(trace)
    folder.mkdir(parents=True)
    files = files_of(made, folder, choices)
    traced = folder / _TRACE
    given = inherited_environment()
    layers = _LAYER if stack == NATIVE else f"{_LAYER},{stack.replace('+', ',')}"
    environ = prepare(layers, None, given).apply(given) | {_OUTPUT: str(traced)}
    library = _library(made[0], choices.library)
    tokens = {name: dict(each.tokens) for name, each in choices.stand_ins.items() if each.tokens}
    what = {"library": library, "files": files, "tokens": tokens, "compute": choices.compute,
            "together": any(each.together for each in made),
            "kept": choices.kept and (str(choices.kept[0]), choices.kept[1])}  # fmt: skip
    pids, left_out = play(what, [each.process.source for each in made], environ, choices)
    if not traced.is_dir():
        raise FileError(f"the layer trace was not loaded by {library} under the stack {stack}")
    present = [each for each in files.values() if Path(each).is_file()]
    for each in present:
        _make_whole(Path(each), folder)
    contents = run(["headrace.trace.replay.contents", *present], given, choices.seconds)
    replayed = {int(each.process.about["pid"]): each for each in read(traced).seats}
    found = likeness([each.seat for each in made], [replayed[pid] for pid in pids])
    return Replay(stack, found, left_out, files, contents)


def _make_whole(file: Path, folder: Path) -> None:
    """Of one that the replay has made in pieces, which plain HDF5 does not read."""
    if file.resolve().is_relative_to(folder.resolve()) and read_stub(file).kind == "text":
        make_whole(find(file), None, lambda _: None, verify=False)


def supplied(trace: Path, folder: Path, choices: Choices) -> Choices:
    """The choices with stand-ins for files that the program has read and that are not there.

    They are in `folder`, which stays. Raises FileError.
    """
    made = _plans(trace)
    return with_stand_ins(made, _library(made[0], choices.library), folder, choices)


def prepared(trace: Path, folder: Path, choices: Choices) -> Choices:
    """The choices with stand-ins, and `kept` values for chunks of the program's sizes and time.

    A native replay and a search find the values; where HDF5 has stored chunks in another order, a
    second round does. There are none where no dataset with filters was written, for several
    processes, and where there is time for few replays only. All is in `folder`, which stays.
    Raises FileError and errors of the replay.
    """
    made, *more = _plans(trace)
    choices = supplied(trace, folder / "inputs", choices)
    found = replace(choices, compute=False)
    for number in range(_ROUNDS if made.ratios and not more else 0):
        room = folder / str(number)
        began = time.monotonic()
        trial = replay(trace, NATIVE, room, found)
        if trial.likeness.exact or _TRIALS * (time.monotonic() - began) > choices.seconds:
            break
        kept = folder / f"{number}.h5"
        what = {"trace": str(trace), "trial": str(room / _TRACE), "files": trial.files,
                "longer": trial.likeness.seconds - trial.likeness.replayed_seconds,
                "library": _library(made, choices.library), "output": str(kept)}  # fmt: skip
        words = ["headrace.trace.replay.stored_sizes", json.dumps(what)]
        names = run(words, inherited_environment(), choices.seconds)
        found = replace(found, kept=(kept, names))
        shutil.rmtree(room)
    return replace(found, compute=choices.compute)


def _plans(trace: Path) -> list[Plan]:
    """Of a trace that is replayed again and again, and must not be changed meanwhile."""
    files = sorted(trace.iterdir()) if trace.is_dir() else [trace]
    return _plans_of(trace, tuple((each.name, each.stat().st_mtime_ns) for each in files))


@lru_cache(maxsize=4)
def _plans_of(trace: Path, _files: tuple[tuple[str, int], ...]) -> list[Plan]:
    return plans(read(trace))


def _library(made: Plan, given: Path | None) -> str:
    file = str(given) if given is not None else made.library
    if not Path(file).is_file():
        raise FileError(f"{file}, the libhdf5 of the program, is not there; name one: --hdf5 FILE")
    return file
