"""The same, with a program that is really ended: by the fault driver, at each write of its file."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from harness.run import run
from harness.seed import LONG, SEED
from layers.log.crash.crash_program import Expected, Progress, small
from layers.log.crash.test_crash_points import LATER, read_plain, recover_all

if TYPE_CHECKING:
    from harness.layer import Layer

STEPS = small(2)
PROGRAM = Path(__file__).with_name("crash_program.py")


def run_until(layer: Layer, number: int, state: int, options: str, outcome: str) -> Progress | None:
    """None when the program has made fewer writes."""
    env = layer.env(options)
    below = "under_vol=7204;under_info={under_vol=0;under_info={}}"
    env["HDF5_VOL_CONNECTOR"] = f"headrace_log {options}{below}"
    fault = {"kind": "power_cut", "op": "write", "first": number, "outcome": outcome}
    env |= {f"HEADRACE_FAULT_{name.upper()}": str(value) for name, value in fault.items()}
    folder = layer.folder / "states" / str(state)
    folder.mkdir(parents=True)
    command: list[str | Path] = [sys.executable, PROGRAM, json.dumps(STEPS), "earliest"]
    done = run(command, env=env, cwd=folder, limit=60)
    if done.status == 0:
        shutil.rmtree(folder)
        return None
    assert done.status == -signal.SIGKILL, done.text
    told = Progress()
    for line in done.out.decode().splitlines():
        told.note(line)
    return told


@pytest.mark.share(1)
@pytest.mark.parametrize("outcome", ["kept", "lost", "mixed"])
@pytest.mark.parametrize("options", [LATER, ""])
def test_each_write_of_the_file(layer: Layer, options: str, outcome: str) -> None:
    told: dict[int, Progress] = {}  # each day, of every other write
    for number in count(1) if LONG else count(1 + SEED % 2, 2):
        progress = run_until(layer, number, len(told), options, outcome)
        if progress is None:
            break
        told[number] = progress
    assert max(told) > 15
    shutil.copytree(layer.folder / "states", layer.folder / "copies")
    said = recover_all(layer, len(told))
    found = read_plain(layer, "states", len(told))
    as_left = read_plain(layer, "copies", len(told))
    compared = 0
    for state, (number, progress) in enumerate(told.items()):
        doing = STEPS[progress.begun][0] if progress.begun >= 0 else "open"
        if progress.flushed < 0 or ("unreadable" in as_left[state] and doing != "write"):
            continue
        assert not said[state], f"write {number}, {doing}: {said[state]}"
        wrong = Expected(STEPS).fault(found[state], progress)
        assert not wrong, f"write {number}, {doing}: {wrong}"
        compared += 1
    assert compared > len(told) // 4
