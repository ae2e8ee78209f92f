"""`headrace bench trace`: a program's own calls as a benchmark, without the program."""

from __future__ import annotations

import json
import shutil
import statistics
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from headrace.bench import stacks
from headrace.cli.output import console, note, warn
from headrace.errors import FileError
from headrace.units import count, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headrace.trace.replay.choices import Choices
    from headrace.trace.replay.run import Replay

RESULTS = "replay.json"
_SHOWN = 5  # objects that differ


def bench_trace(trace: Path, given: str, folder: Path, repeats: int, choices: Choices) -> bool:
    """Replays a trace under each stack, tells of it and writes `replay.json` to the folder.

    Whether plain HDF5 reads the same after all of them. Raises HeadraceError.
    """
    try:
        from headrace.trace.replay import run  # noqa: PLC0415, needs what a base has not
    except ImportError as error:
        raise FileError(
            f"{trace}: to replay a trace, {error.name} is needed: pip install 'headrace[trace]'"
        ) from None
    names = tuple(dict.fromkeys((run.NATIVE, *stacks.names(given))))
    done: dict[str, list[Replay]] = {name: [] for name in names}
    values = folder / "values"
    try:
        choices = run.prepared(trace.absolute(), values, choices)
        stand_ins = [each.words for each in choices.stand_ins.values()]
        for words in stand_ins:
            note(words)
        for repeat in range(repeats):
            for number, name in enumerate(names):
                where = folder / "data" / f"{repeat}-{number}"
                done[name].append(run.replay(trace.absolute(), name, where, choices))
    finally:
        shutil.rmtree(values, ignore_errors=True)
    native = done[run.NATIVE][0]
    differ = {
        name: sorted({each for one in found for each in run.differences(native, one)})
        for name, found in done.items()
    }
    _tell(done, differ)
    results = {
        name: {
            "repeats": [asdict(each.likeness) for each in found],
            "left_out": dict(found[0].left_out),
            "differs": differ[name],
            "stand_ins": stand_ins,
        }
        for name, found in done.items()
    }
    (folder / RESULTS).write_text(json.dumps(results, indent=1) + "\n")
    console().print(f"written: {folder / RESULTS}", soft_wrap=True, markup=False, highlight=False)
    return not any(differ.values())


def _tell(done: dict[str, list[Replay]], differ: dict[str, list[str]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("stack", overflow="fold")
    for heading in ("time in HDF5", "requests", "the program's", "of their kind", "reads back"):
        table.add_column(heading, justify="right")
    first = next(iter(done.values()))[0].likeness
    table.add_row("the program", seconds(first.seconds), count(first.requests), "", "", "")
    for name, found in done.items():
        like = found[0].likeness
        table.add_row(
            name,
            seconds(statistics.median(each.likeness.replayed_seconds for each in found)),
            count(like.replayed),
            count(like.equal),
            count(like.alike),
            f"{len(differ[name])} differ" if differ[name] else "the same",
        )
    console().print(table, markup=False)
    native = next(iter(done.values()))[0]
    for reason, times in sorted(native.left_out.items()):
        warn(f"left out {count(times)} times: {reason}")
    for name, times in native.likeness.calls.items():
        more = "more" if times > 0 else "fewer"
        warn(f"the replay has {count(abs(times))} {more} calls of {name} than the program")
    for name, objects in differ.items():
        _tell_differing(name, objects)


def _tell_differing(name: str, objects: Sequence[str]) -> None:
    for each in objects[:_SHOWN]:
        warn(f"after the replay under {name} plain HDF5 reads something else of {each}")


def word_of(arguments: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The trace, and the options of a replay that stand among a kernel's; raises FileError."""
    words = list(arguments)
    options: dict[str, Any] = {"inputs": None, "compute": False}
    if "--compute" in words:
        words.remove("--compute")
        options["compute"] = True
    if "--inputs" in words[:-1]:
        at = words.index("--inputs")
        options["inputs"] = words[at + 1]
        del words[at : at + 2]
    if len(words) != 1 or words[0].startswith("-"):
        raise FileError(
            "expected: headrace bench trace TRACE [--np RANKS] [--inputs FOLDER] [--compute]"
        )
    return words[0], options
