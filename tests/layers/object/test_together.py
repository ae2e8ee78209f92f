"""Several processes change one container: what each has flushed is there, or was refused by name.

Each process makes random changes, and flushes now and then. It notes what it was told of each
flush. Two that have changed the same are told by an error which names it; all else is kept.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from functools import partial
from typing import Any

import h5py
import numpy as np
import pytest
from harness.build import PLUGINS, sanitized
from harness.layer import Layer
from harness.program import text_of
from harness.run import run
from harness.seed import LONG, SEED
from harness.stack import CLEAN

TOOL = PLUGINS.parents[1] / "bin/headrace-object"
ROUNDS = 60 if LONG else 4
CHUNK = 8
CHUNKS = 24
PARTS = ["part"] * 4  # what takes most care comes often
NAMES = 6  # that all processes use


def prepare(processes: int) -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_group("shared")
        f.create_dataset("all", (CHUNKS * CHUNK,), "i4", chunks=(CHUNK,), compression=1)
        f.create_dataset("plain", (CHUNKS * CHUNK,), "i4", chunks=(CHUNK,))
        for which in range(processes):
            f.create_group(f"own{which}")


def changed(f: h5py.File, which: int, processes: int, value: int, rng: random.Random) -> list[Any]:
    """Makes one change: of chunks and elements of the process, or of the few names of all."""
    kind = rng.choice(["own", "own", "drop", "attribute", "chunk", "link", "shared", *PARTS])
    mine, shared = f[f"own{which}"], f["shared"]
    name: Any = f"{kind}{which}_{value}"
    if kind == "own":
        mine.create_dataset(name, data=np.full(100, value), chunks=(7,), compression=1)
    elif kind == "drop" and len(mine):
        name = rng.choice(sorted(mine))
        del mine[name]
    elif kind == "attribute":
        shared.attrs[name] = value
    elif kind == "chunk":
        name = rng.randrange(which, CHUNKS, processes)
        f["all"][name * CHUNK : (name + 1) * CHUNK] = value
    elif kind == "part":
        name = f"{which}::{processes}"
        f["plain"][which::processes] = value  # some of each chunk
    elif kind == "link":
        shared[name] = h5py.SoftLink(f"/{value}")
    elif kind == "shared" and (name := f"shared{rng.randrange(NAMES)}") not in shared:
        shared.create_group(name).attrs["by"] = value
    else:
        return []
    return [kind, name, value]


def change(which: int, processes: int, seed: int) -> None:
    """Tells, line by line, of what was flushed and of what was refused."""
    rng = random.Random(seed)  # noqa: S311
    f = h5py.File("x.h5", "r+")
    pending: list[list[Any]] = []
    for turn in range(60):
        value = 1 + turn * processes + which  # of this process, and never again
        pending.append(changed(f, which, processes, value, rng))
        if turn % 4 < 3:
            continue
        refused = ""
        try:
            f.flush()
        except (OSError, RuntimeError) as error:
            refused = str(error)
        print(json.dumps({"refused": refused, "flushed": [one for one in pending if one]}))
        pending = []
    f.close()


def found() -> None:
    """All that the file has at the end."""
    with h5py.File("x.h5", "r") as f:
        shared = f["shared"]
        told: dict[str, Any] = {"all": f["all"][...].tolist(), "plain": f["plain"][...].tolist()}
        told["attributes"] = {name: int(value) for name, value in shared.attrs.items()}
        told["links"] = {
            n: shared.get(n, getlink=True).path for n in shared if n.startswith("link")
        }
        told["shared"] = {n: int(shared[n].attrs["by"]) for n in shared if n.startswith("shared")}
        own = {name: f[name] for name in f if name.startswith("own")}
        told["own"] = {n: {d: sorted(set(g[d][...].tolist())) for d in g} for n, g in own.items()}
        print(json.dumps(told))


def assert_there(kind: str, name: Any, value: int, left: dict[str, Any]) -> None:
    if kind == "attribute":
        assert left["attributes"].get(name) == value, name
    elif kind == "link":
        assert left["links"].get(name) == f"/{value}", name
    elif kind == "part":
        first, step = map(int, name.split("::"))
        assert set(left["plain"][first::step]) == {value}, name
    elif kind == "chunk":
        assert set(left["all"][name * CHUNK : (name + 1) * CHUNK]) == {value}, name


def assert_kept(told: list[list[dict[str, Any]]], left: dict[str, Any]) -> int:
    """Returns how many names were refused."""
    refused, made = 0, set()
    for which, lines in enumerate(told):
        last: dict[tuple[str, Any], int] = {}
        for line in lines:
            for kind, name, value in line["flushed"]:
                if kind == "drop":
                    del last["own", name]
                elif kind != "shared":
                    last[kind, name] = value
                elif left["shared"].get(name) == value:
                    made.add(name)
                else:  # another's, which came first
                    refused += 1
                    assert name in line["refused"], (which, name, line["refused"])
        own = {name: [value] for (kind, name), value in last.items() if kind == "own"}
        assert left["own"][f"own{which}"] == own
        for (kind, name), value in last.items():
            assert_there(kind, name, value, left)
    assert made == left["shared"].keys()
    return refused


def assert_clean(layer: Layer) -> None:
    for command in (("fsck", "--data", "x.h5"), ("gc", "x.h5"), ("fsck", "--data", "x.h5")):
        done = run([TOOL, *command], env=sanitized(CLEAN), cwd=layer.folder)
        assert done.status == 0, done.text
    assert b'"garbage":true' not in done.out, done.text


@pytest.mark.timeout(3600)
def test_random_changes_of_several_processes(object_layer: Layer) -> None:
    refused = 0
    for number in range(ROUNDS):
        processes = 2 + number % 3
        object_layer.python(partial(prepare, processes))
        programs = [
            text_of(partial(change, which, processes, SEED + 10 * number + which))
            for which in range(processes)
        ]
        running = [
            subprocess.Popen(
                [sys.executable, "-c", program],
                env=object_layer.env(),
                cwd=object_layer.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for program in programs
        ]
        told = []
        for process in running:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err.decode()[-3000:]
            told.append([json.loads(line) for line in out.splitlines()])
        left = json.loads(object_layer.python(found).out)
        refused += assert_kept(told, left)
        assert_clean(object_layer)
    print(f"{ROUNDS} rounds, {refused} names refused")
    assert refused > 0 or not LONG, "no two made the same name"


def write_the_same() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=np.zeros(20, "i4"), chunks=(10,))
    f = h5py.File("x.h5", "r+")
    f["d"][:5] = 1
    other = "import h5py\nwith h5py.File('x.h5', 'r+') as f: f['d'][3:8] = 2"
    subprocess.run([sys.executable, "-c", other], check=True)
    f.close()
    with h5py.File("x.h5") as f:
        assert f["d"][:10].tolist() == [1] * 5 + [2] * 3 + [0] * 2


def test_the_same_elements_are_those_of_the_last_flush(object_layer: Layer) -> None:
    object_layer.python(write_the_same)


def elsewhere(*lines: str) -> None:
    program = "import h5py\nwith h5py.File('x.h5', 'r+') as f:\n    " + "\n    ".join(lines)
    subprocess.run([sys.executable, "-c", program], check=True)


def cut_from_one_epoch() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(10), chunks=(10,), maxshape=(None,))
    f.flush()
    assert d[:].tolist() == list(range(10))
    d.resize((3,))
    elsewhere("f['d'].resize((6,))", "f['d'].resize((8,))")
    with pytest.raises(RuntimeError, match="the extent or elements"):
        f.flush()
    left = [0, 1, 2, 3, 4, 5, 0, 0]
    assert d.shape == (8,)
    assert d[:].tolist() == left
    d[7] = 77
    f.close()
    with h5py.File("x.h5") as f:
        assert f["d"][:].tolist() == [*left[:7], 77]


def whole_chunks_over_those_of_a_later_epoch(direct: bool) -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(10), chunks=(10,), maxshape=(None,))
    f.flush()
    if not direct:
        d[:] = np.arange(10, 20)
    elsewhere("f['d'].resize((5,))", "f['d'].resize((10,))", "f['d'][5:] = 7")
    if direct:
        d.id.write_direct_chunk((0,), np.arange(10, 20).tobytes())
    f.close()
    with h5py.File("x.h5") as f:
        assert f["d"][:].tolist() == list(range(10, 20))


@pytest.mark.parametrize(
    "program",
    [
        cut_from_one_epoch,
        partial(whole_chunks_over_those_of_a_later_epoch, direct=False),
        partial(whole_chunks_over_those_of_a_later_epoch, direct=True),
    ],
)
def test_what_another_has_cut_is_known_before_it_is_written(
    object_layer: Layer, program: Any
) -> None:
    object_layer.python(program)
