"""Writers that are killed at each change they make to a store or a stub."""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from harness.corpus import compile_preload
from harness.layer import Layer
from harness.program import text_of
from harness.run import Result, run
from harness.seed import SEED, of_the_day
from layers.object.test_garbage import ask, assert_clean, make_and_show, show, write

MOMENTS = 700  # changes to files
EVERY = 4  # of them at most
DAILY = 6
LEAST = 3  # generations that the last of them sees


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kill")
    return compile_preload(folder, Path(__file__).with_name("programs") / "kill_at.c")


def killed(layer: Layer, preload: Path, moment: int) -> Result:
    command = [sys.executable, "-c", text_of(partial(write, "x.h5"))]
    environment = {"LD_PRELOAD": str(preload), "KILL_AT": str(moment)}
    folder = {"KILL_IN": str(layer.folder)}
    done = run(command, env=layer.env(..., **environment, **folder), cwd=layer.folder)
    assert done.status == -signal.SIGKILL, done.text
    return done


def last_flushed(done: Result) -> int:
    """The last generation that the writer told of; -1 where it had told nothing."""
    lines = done.out.split()
    return int(lines[-1]) if lines else -1


def assert_whole(layer: Layer, last: int) -> None:
    """What was flushed is there, and what is not needed goes; then the file is written again."""
    ask(layer, "fsck", "--data", "store")
    ask(layer, "gc", "x.h5")
    assert_clean(layer, "x.h5")
    shown = layer.python(partial(show, "x.h5", last, "r+")).out
    assert shown.decode().strip() == layer.plain(partial(make_and_show, "native.h5", last))
    assert_clean(layer, "x.h5")
    ask(layer, "gc", "store")
    assert_clean(layer, "store")


@pytest.mark.parametrize("moment", of_the_day(range(1 + SEED % EVERY, MOMENTS, EVERY), DAILY))
def test_killed_at_a_change(object_layer: Layer, preload: Path, moment: int) -> None:
    last = last_flushed(killed(object_layer, preload, moment))
    if last >= 0:
        return assert_whole(object_layer, last)
    if (object_layer.folder / "store/format").exists():  # else it is no store yet
        ask(object_layer, "fsck", "--data", "store")
        ask(object_layer, "gc", "store")
    object_layer.python("h5py.File('x.h5', 'w')['x'] = 1")  # it is made anew
    ask(object_layer, "gc", "store")
    assert_clean(object_layer, "store")
    return None


def test_the_moments_reach_far(object_layer: Layer, preload: Path) -> None:
    assert last_flushed(killed(object_layer, preload, MOMENTS)) >= LEAST
