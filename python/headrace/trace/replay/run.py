"""Replays of a trace under stacks, each in a process and a folder of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare
from headrace.trace.reader import read
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.compare import Likeness, likeness
from headrace.trace.replay.plan import Plan, Step, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

NATIVE: Final = "native"
_LAYER: Final = "trace"
_TRACE: Final = "replay.hrtrace"
_ROUNDS: Final = 2
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
    recorded = read(trace)
    made = plan(recorded)
    folder.mkdir(parents=True)
    files = _files(made, folder, choices.inputs)
    traced = folder / _TRACE
    given = inherited_environment()
    layers = _LAYER if stack == NATIVE else f"{_LAYER},{stack.replace('+', ',')}"
    environ = prepare(layers, None, given).apply(given) | {_OUTPUT: str(traced)}
    library = _library(made, choices.library)
    what = {"trace": str(trace), "library": library, "files": files, "compute": choices.compute,
            "kept": choices.kept and (str(choices.kept[0]), choices.kept[1])}  # fmt: skip
    told = _run(["headrace.trace.replay.child", json.dumps(what)], environ, choices.limit)
    if not traced.is_dir():
        raise FileError(f"the layer trace was not loaded by {library} under the stack {stack}")
    present = [each for each in files.values() if Path(each).is_file()]
    contents = _run(["headrace.trace.replay.contents", *present], given, choices.limit)
    return Replay(stack, likeness(recorded, read(traced)), Counter(told), files, contents)


def prepared(trace: Path, folder: Path, choices: Choices) -> Choices:
    """The choices with `kept` values, for chunks of the sizes and the time of the program's.

    A native replay and a search find the values; where HDF5 has stored chunks in another order, a
    second round does. They are in `folder`, which stays. Where no dataset with filters was written
    the choices are as they were. Raises FileError and errors of the replay.
    """
    made = plan(read(trace))
    found = replace(choices, compute=False)
    for number in range(_ROUNDS if made.ratios else 0):
        room = folder / str(number)
        trial = replay(trace, NATIVE, room, found)
        if trial.likeness.exact:
            break
        kept = folder / f"{number}.h5"
        what = {"trace": str(trace), "trial": str(room / _TRACE), "files": trial.files,
                "longer": trial.likeness.seconds - trial.likeness.replayed_seconds,
                "library": _library(made, choices.library), "output": str(kept)}  # fmt: skip
        words = ["headrace.trace.replay.stored_sizes", json.dumps(what)]
        names = _run(words, inherited_environment(), choices.limit)
        found = replace(found, kept=(kept, names))
        shutil.rmtree(room)
    return replace(found, compute=choices.compute)


def _run(words: Sequence[str], environ: dict[str, str], limit: float) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *words], env=environ, timeout=limit, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FileError(f"a replay has failed: {last[0]}")
    return json.loads(done.stdout.splitlines()[-1])


def _library(made: Plan, given: Path | None) -> str:
    file = str(given) if given is not None else made.library
    if not Path(file).is_file():
        raise FileError(f"{file}, the libhdf5 of the program, is not there; name one: --hdf5 FILE")
    return file


def _files(made: Plan, folder: Path, inputs: Path | None) -> dict[str, str]:
    """Names in the trace, and in the replay; files that the program has not made are copied."""
    files: dict[str, str] = {}
    first: dict[str, str] = {}  # what a program has done first with a file
    for step in made.steps:
        if step.callback in {"file_create", "file_open"} and not step.failed:
            first.setdefault(_named(step) or "", step.callback)
    for step in made.steps:
        name = _named(step)
        if name is None or name in files:
            continue
        # By its own name it is found by links of other files, and those are as long.
        own = folder / Path(name).name
        target = folder / f"{len(files)}-{own.name}" if str(own) in files.values() else own
        files[name] = str(target)
        if first.get(name) == "file_create":
            continue
        source = Path(name) if inputs is None else inputs / Path(name).name
        if source.is_file():
            shutil.copyfile(source, target)
        elif step.callback == "file_open" and not step.failed:
            raise FileError(
                f"{source}: the program has read this file, which is not there; say where "
                "the files are that it has read: --inputs FOLDER"
            )
    return files


def _named(step: Step) -> str | None:
    """The file that a step is about by its name."""
    given = step.given.get("given", ())
    if step.callback in {"file_create", "file_open"} and given:
        return str(given[0])
    asked = given[1] if step.callback == "file_specific" and given else None
    return str(asked["file"]) if asked and "file" in asked else None
