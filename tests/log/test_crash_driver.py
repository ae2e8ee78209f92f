"""The same, with a program that is really ended: by the fault driver, at each write of its file."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from harness.run import run
from log.crash_program import Expected, Progress, small
from log.test_crash_points import LATER, read_plain, recover_all

if TYPE_CHECKING:
    from harness.layer import Layer

STEPS = small(2)
PROGRAM = Path(__file__).with_name("crash_program.py")


def run_until(layer: Layer, number: int, options: str, outcome: str) -> Progress | None:
    """None when the program has made fewer writes."""
    env = layer.env(options)
    below = "under_vol=7204;under_info={under_vol=0;under_info={}}"
    env["HDF5_VOL_CONNECTOR"] = f"headrace_log {options}{below}"
    fault = {"kind": "power_cut", "op": "write", "first": number, "outcome": outcome}
    env |= {f"HEADRACE_FAULT_{name.upper()}": str(value) for name, value in fault.items()}
    folder = layer.folder / "states" / str(number - 1)
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
    told: list[Progress] = []
    while (progress := run_until(layer, len(told) + 1, options, outcome)) is not None:
        told.append(progress)
    assert len(told) > 15
    shutil.copytree(layer.folder / "states", layer.folder / "copies")
    said = recover_all(layer, len(told))
    found = read_plain(layer, "states", len(told))
    as_left = read_plain(layer, "copies", len(told))
    compared = 0
    for number, progress in enumerate(told):
        doing = STEPS[progress.begun][0] if progress.begun >= 0 else "open"
        if progress.flushed < 0 or ("unreadable" in as_left[number] and doing != "write"):
            continue
        assert not said[number], f"write {number + 1}, {doing}: {said[number]}"
        wrong = Expected(STEPS).fault(found[number], progress)
        assert not wrong, f"write {number + 1}, {doing}: {wrong}"
        compared += 1
    assert compared > len(told) // 4
