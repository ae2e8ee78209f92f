"""What several processes see of several files is the same under each stack as natively.

HEADRACE_RANDOM_PROGRAMS=N takes steps N times, or more: not all that hypothesis begins can go on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from harness.build import PLUGINS
from harness.corpus import SOURCES, compile_preload
from harness.seed import LONG, SEED
from harness.stack import exported
from machines.machine import drive
from machines.sides import Side, Sides
from random_programs.compare import DifferenceError, Stack
from random_programs.stacks import did, native, stack, took_part
from random_programs.workers import Worker

LIAR = SOURCES.parent / "random_programs/liar.c"
COUNT = os.environ.get("HEADRACE_RANDOM_PROGRAMS")
STACKS = ("async", "log", "async,log", "log_later", "cache")
SMALL = ("async_small", "log:budget=64KiB", "log:canonicalise=later;budget=64KiB")
# What a stack must have done: the seat, a statistic and how much of it in a step.
WORK = {
    "async": [("vfd", "written_behind_bytes", 100), ("vol", "chunks_encoded", 0.01)],
    "log": [("vol", "writes_logged", 0.01), ("vol", "logged_bytes", 10)],
}


def layers(name: str, folder: Path, plain: dict[str, str]) -> Stack:
    if name != "async,log":
        return stack(name, PLUGINS, folder, plain)
    made = stack("async", PLUGINS, folder, plain)
    connector = exported(name)["HDF5_VOL_CONNECTOR"]
    report = {"HEADRACE_REPORT": str(folder / "async_log.report")}
    environment = {**made.environment, **report, "HDF5_VOL_CONNECTOR": connector}
    return replace(made, name="async_log", environment=environment)


@contextmanager
def beside_native(stacks: Sequence[Stack], plain: dict[str, str], folder: Path) -> Iterator[Sides]:
    all_stacks = [Stack("native", plain, exact=False, seats=()), *stacks]
    reader = Worker(plain, folder, "plain", "machines.process")
    with Sides([Side(one, folder) for one in all_stacks], reader) as sides:
        yield sides


def agree(names: Sequence[str], examples: int, steps: int, folder: Path) -> None:
    plain = native(folder)
    stacks = [layers(name, folder, plain) for name in names]
    with beside_native(stacks, plain, folder) as sides:
        drive(sides, int(COUNT or examples), SEED, steps)
    print(
        f"{sides.examples} times {steps} steps: {sides.steps} statements, {sides.looks} files read"
    )
    for one in stacks:
        assert took_part(one) > sides.examples, one.name
        for layer, work in WORK.items():
            for seat, what, least in work if layer in one.name else ():
                done = did(one, seat, what)
                print(f"{one.name}: {what} {done}")
                assert done > (least * sides.steps if LONG else 0), (one.name, what)
    assert sides.looks > 0.5 * sides.examples
    assert sides.refused <= 1 + 0.05 * sides.examples
    assert len(sides.natively_lost) <= 1 + 0.05 * sides.examples, sides.natively_lost
    assert sides.failed < 0.4 * sides.steps, "most statements must work"


def test_all_processes_see_what_they_see_natively(tmp_path: Path) -> None:
    agree(STACKS, 14, 30, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("names", [STACKS, SMALL], ids=["usual", "small"])
def test_all_processes_see_what_they_see_natively_at_length(
    names: Sequence[str], tmp_path: Path
) -> None:
    agree(names, 500, 50, tmp_path)


@pytest.mark.share(1)
@pytest.mark.plain
@pytest.mark.parametrize("lie", ["change", "lose"])
def test_lies_of_the_disk_are_found(lie: str, tmp_path: Path) -> None:
    plain = native(tmp_path)
    liar = compile_preload(tmp_path, LIAR)
    environment = plain | {"LD_PRELOAD": f"{plain['LD_PRELOAD']}:{liar}", "LIE": lie}
    stacks = [Stack("liar", environment, exact=False, seats=())]
    with beside_native(stacks, plain, tmp_path) as sides, pytest.raises(DifferenceError):
        drive(sides, 100, 5, 30)
    assert len(sides.found[-1].splitlines()) < 20
