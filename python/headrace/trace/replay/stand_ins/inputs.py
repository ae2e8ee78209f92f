"""Files that a program has read and not made: copies of them, or stand-ins."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.plan import inherited_environment
from headrace.trace.replay.choices import StandIn
from headrace.trace.replay.processes import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.replay.choices import Choices
    from headrace.trace.replay.plan import Plan
    from headrace.trace.replay.step import Step

_MAKER: Final = "headrace.trace.replay.stand_ins.stand_in"


def files_of(made: Sequence[Plan], folder: Path, choices: Choices) -> dict[str, str]:
    """Names in the trace, and in the replay in `folder`, where inputs are copied to.

    FileError for an input that is neither there nor has a stand-in among the choices.
    """
    files: dict[str, str] = {}
    taken: set[Path] = set()
    first = _first(made)
    for step in _steps(made):
        name = named(step)
        if name is None or name in files:
            continue
        # By its own name it is found by links of other files, and those are as long.
        own = folder / _last_part(name)
        target = folder / f"{len(files)}-{own.name}" if own in taken else own
        taken.add(target)
        files[name] = str(target)
        opened = first.get(name)
        if opened is None or opened.callback == "file_open":
            _copy(name, target, choices, is_read=opened is not None)
    return files


def _copy(name: str, target: Path, choices: Choices, *, is_read: bool) -> None:
    source = _source(name, choices)
    stand_in = choices.stand_ins.get(name)
    if source.is_file():
        shutil.copyfile(source, target)
    elif stand_in is not None:
        shutil.copyfile(stand_in.file, target)
    elif is_read:
        raise FileError(
            f"{source}: the program has read this file, which is not there; say where "
            "the files are that it has read: --inputs FOLDER"
        )


def with_tokens(plan: Plan, tokens: Mapping[str, Mapping[str, str]]) -> Plan:
    """The plan with references of stand-ins, which are given by files' names in the trace."""
    process = plan.process

    def changed(step: Step) -> Step:
        file = process.objects.get(step.key[0], {}).get("file", 0)
        known = tokens.get(process.files.get(file, {}).get("name", ""), {})
        if (new := known.get(step.place.get("token", ""))) is None:
            return step
        self_, _, *rest = step.given["given"]
        there = [self_, {**step.place, "token": new}, *rest]
        return replace(step, given={**step.given, "given": there})

    return replace(plan, steps=[changed(step) for step in plan.steps] if tokens else plan.steps)


def with_stand_ins(made: Sequence[Plan], library: str, folder: Path, choices: Choices) -> Choices:
    """The choices with stand-ins in `folder` for inputs that are not there.

    There are none in traces of before Headrace recorded what it takes. Raises FileError.
    """
    found = dict(choices.stand_ins)
    for name, step in _first(made).items():
        if "opened" not in step.given or _source(name, choices).is_file():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{len(found)}-{_last_part(name)}"
        what = {"sources": [str(each.process.source) for each in made], "name": name,
                "library": library, "output": str(file)}  # fmt: skip
        said = run([_MAKER, json.dumps(what)], inherited_environment(), choices.seconds)
        unknown = tuple(f"{path} ({why})" for path, why in said["unknown"].items())
        found[name] = StandIn(name, file, said["datasets"], unknown, said["tokens"])
    return replace(choices, stand_ins=found)


def _first(made: Sequence[Plan]) -> dict[str, Step]:
    """What a program has done first with each file that it has made or opened."""
    first: dict[str, Step] = {}
    for step in _steps(made):
        if step.callback in {"file_create", "file_open"} and not step.failed:
            first.setdefault(named(step) or "", step)
    return first


def _steps(made: Sequence[Plan]) -> list[Step]:
    return sorted((step for each in made for step in each.steps), key=lambda step: step.begin)


def _source(name: str, choices: Choices) -> Path:
    return Path(name) if choices.inputs is None else choices.inputs / _last_part(name)


def _last_part(name: str) -> str:
    """A name in any folder, whatever a trace may say."""
    last = Path(name).name.replace("\0", "_")
    return "unnamed" if last in {"", ".."} else last


def named(step: Step) -> str | None:
    """The file that a step is about by its name."""
    given = step.given.get("given", ())
    if step.callback in {"file_create", "file_open"} and given:
        return str(given[0])
    asked = given[1] if step.callback == "file_specific" and given else None
    return str(asked["file"]) if asked and "file" in asked else None
