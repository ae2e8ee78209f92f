"""A program that is killed, or whose power is cut, at any change it makes to any file.

What it does to files is recorded once; from the record come the states of the disk that each moment
may leave. Each is recovered, and read by HDF5 alone.
"""

from __future__ import annotations

import ctypes
import json
import random
import shutil
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.corpus import compile_preload
from harness.program import text_of
from harness.run import run
from layers.log.crash.crash_program import LAYOUTS, Array, Expected, Progress, Step, large, small
from layers.log.crash.recorded import Change, Disk, Tree, read_record, write_tree
from layers.log.program_parts import hdf5_of_h5py

if TYPE_CHECKING:
    from harness.layer import Layer

LATER = "canonicalise=later;"
SYNC = LATER + "sync=true;"
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_preload(tmp_path_factory.mktemp("record"), HERE / "record.c"))


@dataclass(frozen=True)
class State:
    """What is on the disk after a crash."""

    moment: str
    told: Progress
    touched: bool  # HDF5 may have been writing metadata, which it does not do in one piece
    tree: Tree


def record(layer: Layer, recorder: str, options: str, command: list[str | Path]) -> list[Change]:
    folder, to = layer.folder / "run", layer.folder / "record"
    folder.mkdir(exist_ok=True)
    to.unlink(missing_ok=True)
    env = {"LD_PRELOAD": recorder, "RECORD_FOLDER": str(folder), "RECORD_TO": str(to)}
    done = run([sys.executable, *command], env=layer.env(options) | env, cwd=folder, limit=120)
    assert done.status == 0, done.text
    return read_record(to)


def touches_metadata(change: Change) -> bool:
    return change.path == "x.h5" and change.kind in ("create", "write", "resize")


def states(
    changes: list[Change], before: Tree, *, cuts: int, points: int | None = None
) -> list[State]:
    """All that may be left at each change, or at some of them, each once."""
    chance = random.Random(3)  # noqa: S311
    chosen = set(chance.sample(range(len(changes) + 1), points or len(changes) + 1))
    disk, told, touched = Disk(before), Progress(), False
    found: dict[int, State] = {}
    for number, change in enumerate([*changes, Change("end", "")]):
        if number in chosen and change.kind != "note":
            touches = touched or touches_metadata(change)
            trees = {
                "killed": disk.killed(None, chance),
                "killed amid": disk.killed(change, chance),
            }
            if cuts:
                trees["lost"] = disk.without_unsafe()
                trees |= {f"cut {i}": disk.cut(chance) for i in range(cuts)}
            for how, tree in trees.items():
                key = hash((tuple(sorted(tree.items())), told.flushed))
                moment = f"{how} at {number}, {change.kind} {change.path}"
                found.setdefault(key, State(moment, replace(told), touches, tree))
        disk.make(change)
        touched = touches_metadata(change) or touched
        if change.kind == "note":
            told.note(change.path)
            touched = touched and not change.path.startswith("flushed")
    return list(found.values())


def save_what_is_read(folder: str, count: int) -> None:
    """By HDF5 alone, which is told that nobody has the file open."""
    clear = ctypes.c_bool(True)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    value = ctypes.byref(clear)
    assert hdf5_of_h5py().H5Pset(ctypes.c_int64(fapl.id), b"clear_status_flags", value) == 0
    for number in range(count):
        found = {}
        try:
            path = f"{folder}/{number}/x.h5".encode()
            with h5py.File(h5py.h5f.open(path, h5py.h5f.ACC_RDONLY, fapl)) as f:
                for name in f:
                    found[name] = f[name][...]
                dict(f.attrs)
        except (OSError, RuntimeError, KeyError, ValueError):
            found = {"unreadable": np.zeros(1)}
        np.savez(f"{folder}/{number}/found.npz", **found)


def read_plain(layer: Layer, folder: str, count: int) -> list[dict[str, Array]]:
    layer.plain(partial(save_what_is_read, folder, count))
    return [
        dict(np.load(layer.folder / folder / str(number) / "found.npz")) for number in range(count)
    ]


def open_both_ways(name: str = "x.h5") -> None:
    for mode in ("r", "r+"):
        h5py.File(name, mode).close()


def open_each(count: int) -> None:
    for number in range(count):
        told = ""
        try:
            open_both_ways(f"states/{number}/x.h5")
        except OSError as error:
            told = str(error)
        print(json.dumps([number, told]), flush=True)


def recover_all(layer: Layer, count: int, options: str = "") -> list[str]:
    """What the layer says of each of the states; a process that dies is an error."""
    recovering = options + "recover=true;verify=true;"
    done = layer.python(partial(open_each, count), recovering, limit=300)
    return [json.loads(line)[1] for line in done.out.splitlines()]


def lay_out(layer: Layer, some: list[State]) -> None:
    for folder in ("states", "copies"):
        shutil.rmtree(layer.folder / folder, ignore_errors=True)
        for number, state in enumerate(some):
            write_tree(state.tree, layer.folder / folder / str(number))


def check(
    layer: Layer,
    steps: list[Step],
    some: list[State],
    *,
    atomic: bool = False,
    metadata: bool = True,
) -> int:
    """Recovers all states and compares; returns how many are none of ours.

    HDF5 does not write metadata in one piece: what a crash leaves amid that may be such that nobody
    can read it, and where single writes are torn, that nobody can tell. With `metadata` HDF5 writes
    some whenever it may, else only with the first flush after a logged write.
    """
    expected = Expected(steps)
    lay_out(layer, some)
    said = recover_all(layer, len(some))
    found = read_plain(layer, "states", len(some))
    as_left = read_plain(layer, "copies", len(some))
    damaged = 0
    first = steps.index(["flush"])
    for number, state in enumerate(some):
        where = f"state {number}, {state.moment}, {state.told}: {said[number]}"
        torn = "unreadable" in as_left[number]
        if state.moment.startswith(("cut", "killed amid")):
            torn = torn or metadata or (bool(said[number]) and state.told.flushed == first)
        if state.told.flushed < 0 or (state.touched and torn):
            damaged += state.told.flushed >= 0
            continue
        no_log = "x.h5.headrace" not in state.tree and "h5clear" in said[number]
        assert not said[number] or no_log, where
        wrong = expected.fault(found[number], state.told)
        assert not wrong, f"{where} {wrong}"
        if atomic:
            assert expected.is_of_a_flush(found[number], state.told), where
    return damaged


def program(steps: list[Step], libver: str = "earliest") -> list[str | Path]:
    return [HERE / "crash_program.py", json.dumps(steps), libver]


@pytest.mark.share(3)
@pytest.mark.parametrize("options", [LATER, SYNC, ""])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_every_moment_of_a_small_run(
    layer: Layer, recorder: str, libver: str, options: str
) -> None:
    steps = small()
    changes = record(layer, recorder, options, program(steps, libver))
    logs = [change for change in changes if change.path.endswith(".log")]
    assert (len([change for change in logs if change.kind == "write"]) > 15) == bool(options)
    some = states(changes, {}, cuts=3 if "sync" in options else 0)
    assert len(some) > 80
    assert check(layer, steps, some) < 0.8 * len(some)


@pytest.mark.parametrize("options", [LATER, SYNC, ""])
def test_every_moment_without_new_metadata(layer: Layer, recorder: str, options: str) -> None:
    """Then nothing may be lost but amid the flush that brings the marker into the file."""
    steps = [step for step in small(6, LAYOUTS[:2]) if "new" not in step]
    changes = record(layer, recorder, options, program(steps))
    some = states(changes, {}, cuts=4 if "sync" in options else 0)
    lost = check(layer, steps, some, metadata=False)
    assert lost < 16 if options else lost == 0


@pytest.mark.parametrize("options", [LATER, SYNC])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_flush_is_there_as_a_whole(
    layer: Layer, recorder: str, libver: str, options: str
) -> None:
    """Where nothing has the log put in order in between, there is one flush or the next."""
    steps = [step for step in small() if step[0] != "read" and "new" not in step]
    changes = record(layer, recorder, options, program(steps, libver))
    some = states(changes, {}, cuts=3 if "sync" in options else 0)
    assert check(layer, steps, some, atomic=True) < len(some) // 4


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("options", [LATER, SYNC, ""])
def test_moments_of_a_larger_run(layer: Layer, recorder: str, seed: int, options: str) -> None:
    steps = large(seed)
    changes = record(
        layer, recorder, options, program(steps, "latest" if seed == 2 else "earliest")
    )
    some = states(changes, {}, cuts=1 if "sync" in options else 0, points=60)
    assert check(layer, steps, some) < 0.8 * len(some)


@pytest.mark.parametrize("options", [LATER, SYNC])
def test_a_recovery_that_crashes(layer: Layer, recorder: str, options: str) -> None:
    """It is begun anew, and ends with what it would have ended with."""
    steps = [step for step in small(6, LAYOUTS[:2]) if "new" not in step and "read" not in step]
    changes = record(layer, recorder, options, program(steps))
    last = max(n for n, change in enumerate(changes) if change.path.startswith("flushed-"))
    before = states(changes[:last], {}, cuts=0)[-1]
    shutil.rmtree(layer.folder / "run")
    write_tree(before.tree, layer.folder / "run")
    command: list[str | Path] = ["-c", text_of(open_both_ways)]
    after = record(layer, recorder, options + "recover=true;verify=true;", command)
    assert len([change for change in after if change.path == "x.h5"]) > 5
    some = [
        replace(state, told=before.told)
        for state in states(after, before.tree, cuts=4 if "sync" in options else 0)
    ]
    assert check(layer, steps, some, metadata=False) == 0
    recovered = read_plain(layer, "states", len(some))
    for found in recovered:
        assert all((found[name] == recovered[0][name]).all() for name in recovered[0])
