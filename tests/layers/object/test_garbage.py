"""Writers that are killed: what they leave is garbage, and what they had flushed is not."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from typing import Any

import h5py
import numpy as np
from harness.build import PLUGINS, sanitized
from harness.kill import killed_writers, tell
from harness.layer import Layer
from harness.run import run
from harness.stack import CLEAN

TOOL = PLUGINS.parents[1] / "bin/headrace-object"


def write(name: str, last: int = -1) -> None:
    """Each generation makes a group, changes one and deletes one; without a last one it tells."""
    f = h5py.File(name, "w", track_order=True)
    f["type"] = np.dtype([("a", "i4")])
    f.flush()
    if last < 0:
        tell(0)
    for n in range(1, (last if last >= 0 else 1 << 30) + 1):
        group = f.create_group(f"g{n}", track_order=n % 2 == 0)
        d = group.create_dataset("d", (20, 20), "i4", chunks=(4, 5), maxshape=(None, None))
        d[...] = n
        group.create_dataset("large", data=np.full(100_000, n % 256, "u1"), chunks=(100_000,))
        words = group.create_dataset("words", (10,), h5py.string_dtype())
        words[:] = [str(n) * i for i in range(10)]
        group.create_dataset("typed", (3,), f["type"])
        group.create_group("below/deeper")["again"] = d
        f[f"link{n}"] = d
        if n > 2:
            older = f[f"g{n - 2}"]
            older["d"].resize((7, 9))
            older["d"].resize((30, 9))
            older["words"][3] = "new"
            older.move("below", "moved")
            older.attrs["n"] = n
        if n > 4:
            del f[f"g{n - 4}"]
            del f[f"link{n - 4}"]
        f.flush()
        if last < 0:
            tell(n)
    f.close()


def show(name: str, n: int, mode: str = "r") -> None:
    """What the generation after n leaves alone; and then it is changed, if asked for."""
    f = h5py.File(name, mode)

    def tell_of(path: str, found: h5py.Group | h5py.Dataset) -> None:
        value = found[...].tolist() if isinstance(found, h5py.Dataset) else sorted(found)
        print(path, value, dict(found.attrs))

    for each in (n, n - 2):
        if each > 0:
            print(each)
            f[f"g{each}"].visititems(tell_of)
            print(f[f"link{each}"][...].tolist())
    if mode == "r+":
        f["later"] = 1
        f.create_group("h")


def make_and_show(name: str, n: int) -> None:
    write(name, n)
    show(name, n)


def ask(layer: Layer, *words: str) -> list[dict[str, Any]]:
    done = run([TOOL, *words], env=sanitized(CLEAN), cwd=layer.folder)
    assert done.status == 0, done.text
    return [json.loads(line) for line in done.out.splitlines()]


def assert_clean(layer: Layer, path: str) -> None:
    for line in ask(layer, "fsck", "--data", path):
        assert not line.get("garbage"), line
        assert not line.get("damage"), line
        assert not line.get("files"), line


def test_what_killed_writers_leave_goes_and_all_else_stays(object_layer: Layer) -> None:
    told = killed_writers(object_layer, write, object_layer.usual)
    for kill, last in enumerate(told):
        name = f"x{kill}.h5"
        ask(object_layer, "fsck", "--data", name)
        ask(object_layer, "gc", name)
        assert_clean(object_layer, name)
        shown = object_layer.python(partial(show, name, last, "r+")).out
        native = object_layer.plain(partial(make_and_show, f"native{kill}.h5", last))
        assert shown.decode().strip() == native, f"generation {last}"
        assert_clean(object_layer, name)
    ask(object_layer, "gc", "store")
    assert_clean(object_layer, "store")


def test_cleaning_that_is_killed_is_done_by_the_next(object_layer: Layer) -> None:
    killed_writers(object_layer, write, object_layer.usual)
    for delay in ("0.002", "0.004", "0.006", "0.01"):
        words = ["timeout", "-s", "KILL", delay, str(TOOL), "gc", "x0.h5"]
        subprocess.run(words, env=CLEAN, cwd=object_layer.folder, check=False, capture_output=True)
        ask(object_layer, "fsck", "x0.h5")
    ask(object_layer, "gc", "x0.h5")
    assert_clean(object_layer, "x0.h5")
