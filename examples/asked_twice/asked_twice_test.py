"""Chunks that are asked for again are counted, and a program reads what it reads without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

HERE = Path(__file__).parent
KINDS: dict[str, dict[str, Any]] = {
    "gzip": {"compression": 4, "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
    "plain": {},
}
SHAPE, CHUNK = (25, 7), (10, 4)
CHUNK_BYTES = 10 * 4 * 4
NAMES = ("chunks_asked", "chunks_asked_again", "chunks_kept", "reads_not_followed")


def make(path: Path) -> None:
    values = np.arange(np.prod(SHAPE), dtype=">i4").reshape(SHAPE)
    with h5py.File(path, "w") as f:
        for name, filters in KINDS.items():
            f.create_dataset(f"in/{name}", data=values, chunks=CHUNK, **filters)
        sparse = f.create_dataset("sparse", SHAPE, "f8", chunks=CHUNK, fillvalue=2.5, compression=1)
        sparse[12:14] = 1
        f.create_dataset("scaled", data=values.astype("i4"), chunks=CHUNK, scaleoffset=0)
        f["contiguous"] = values


def run(folder: Path, program: str, stack: str | None = "asked_twice") -> str:
    """What the program prints: with a stack, or without any plug-in."""
    command = [sys.executable, "-c", "import h5py, numpy as np\n" + program]
    environment = dict(os.environ)
    if stack is not None:
        headrace = str(Path(sys.executable).with_name("headrace"))
        command = [headrace, "run", "--quiet", "--stack", stack, "--", *command]
        environment["HDF5_PLUGIN_PATH"] = str(HERE.parents[1] / "build/dev/lib/plugins")
        environment["HEADRACE_REPORT"] = str(folder / "report.jsonl")
    (folder / "report.jsonl").unlink(missing_ok=True)
    make(folder / "x.h5")
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, timeout=120, capture_output=True
    )
    return done.stdout.decode()


def told(folder: Path) -> dict[str, tuple[int, ...]]:
    lines = (folder / "report.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    ours = [event for event in events if event["name"] == "headrace_asked_twice"]
    assert "load" in {event["event"] for event in ours}
    return {
        event["dataset"]: tuple(event["values"].get(name, 0) for name in NAMES)
        for event in ours
        if event["event"] == "statistics"
    }


# Chunks 0 and 1, 2 and 3, 4 and 5 are rows of two. 0 and 1 are read twice, 2 three times, 3 twice.
READS = """
with h5py.File("x.h5") as f:
    f["in/gzip"][0:10]
    f["in/gzip"][5:15]
    f["in/gzip"][12, 1:3]
    f["in/lzf"][...]
    for i in range(3):
        f["sparse"][:, 2]  # chunks 0, 2, 4
    f["in/gzip"][[1, 3, 4]]
    f["contiguous"][...]
    f["scaled"][...]
"""


def test_chunks_asked_again_are_counted(tmp_path: Path) -> None:
    run(tmp_path, READS)
    assert told(tmp_path) == {
        "/sparse": (9, 6, 6, 0),
        "/in/gzip": (2 + 4 + 1 + 2, 2 + 1 + 2, 2 + 1 + 2, 0),
        "/in/lzf": (6, 0, 0, 0),
    }


# What a chunk takes in a store is more than its bytes: two of them have room here, not three.
TWO_CHUNKS = 2 * (CHUNK_BYTES + 512)


@pytest.mark.parametrize(("keep", "kept"), [(1, 1), (TWO_CHUNKS, 2), (3 * TWO_CHUNKS // 2, 4)])
def test_what_has_no_room_is_decoded_anew(tmp_path: Path, keep: int, kept: int) -> None:
    reads = """
with h5py.File("x.h5") as f:
    x = f["in/gzip"]
    for row in 0, 0, 10, 20, 10, 0, 20:
        print(x[row, 0])
"""
    # Repeats: 0 at once; 10 after one other chunk; 0 and 20 after two.
    assert run(tmp_path, reads, f"asked_twice(keep={keep})") == run(tmp_path, reads, None)
    run(tmp_path, reads, f"asked_twice(keep={keep})")
    assert told(tmp_path) == {"/in/gzip": (7, 4, kept, 0)}


SELECTIONS = """
def show(x, type=None):
    s = np.s_
    for _ in range(2):
        for at in (..., s[3:17], s[::3, 1::2], s[24], s[2, 3], s[4:4], s[[1, 11, 12]]):
            print((x if type is None else x.astype(type))[at].tobytes().hex())
        out = np.full((30, 9), 7, x.dtype)
        x.read_direct(out, np.s_[2:20:2, 1:6], np.s_[3:12, 2:7])
        print(out.tobytes().hex())

with h5py.File("x.h5") as f:
    for name in "in/gzip", "in/lzf", "in/plain", "sparse", "scaled", "contiguous":
        show(f[name])
        show(f[name], "f4")
"""
NEVER_FILLED = """
with h5py.File("n.h5", "w") as f:
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((4,))
    dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((12,))
    x = h5py.Dataset(h5py.h5d.create(f.id, b"x", h5py.h5t.NATIVE_INT32, space, dcpl))
    x[4:8] = 1
    out = np.full(12, 7, "i4")
    x.read_direct(out)
    print(out)
"""
CHANGES = """
def show(*all):
    for x in all:
        for _ in range(2):
            print(x.name, x[...].tobytes().hex(), x[11:13].tobytes().hex())

with h5py.File("x.h5", "r+") as f:
    x, lzf = f["in/gzip"], f["in/lzf"]
    show(x, lzf, f["sparse"])
    x[11:13] = 5
    f["sparse"][0] = 9
    show(x, lzf, f["sparse"])
    again = h5py.File("x.h5", "r+")
    again["in/lzf"][12] = 6
    again.close()
    show(lzf)
    show(lzf)
    f["other"] = h5py.SoftLink("/in/plain")
    show(f["in/plain"])
    f["other"][12] = 8
    show(f["in/plain"])
    f["in/plain"].id.write_direct_chunk((10, 0), bytes(range(160)))
    show(f["in/plain"])
    layout = h5py.VirtualLayout((25, 7), ">i4")
    layout[...] = h5py.VirtualSource(x)
    f.create_virtual_dataset("virtual", layout)
    show(x)
    f["virtual"][12] = 4
    show(x)

with h5py.File("g.h5", "w", libver="latest") as f:
    g = f.create_dataset("g", (4, 6), "i4", chunks=(2, 2), maxshape=(None, None), compression=1)
    g[...] = np.arange(24).reshape(4, 6)
    print(g[...], g[...])
    for shape in (4, 9), (2, 3), (5, 6):
        g.resize(shape)
        print(g[...], g[...])
    one = f.create_dataset("one", (3,), "i4", chunks=(8,), maxshape=(8,), compression=1)
    for value in 1, 2:
        one[...] = value
        print(one[...], one[...])
    for value in 3, 4, 5:
        new = f.create_dataset("new", (40,), "i4", chunks=(4,), compression=1, fillvalue=value)
        print(new[...], new[3:9])
        del f["new"]
        print(new[...])
        del new
    for value in 3, 4, 5:
        g[...] = value
        f.copy("g", "copy")
        print(f["copy"][...], f["copy"][...])
        del f["copy"]
"""
PROGRAMS = {"selections": SELECTIONS, "never_filled": NEVER_FILLED, "changes": CHANGES}


@pytest.mark.parametrize("stack", ["asked_twice", "asked_twice(keep=1)", "asked_twice,async"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_reads_what_it_reads_without(tmp_path: Path, stack: str, program: str) -> None:
    through = run(tmp_path, program, stack)
    if program != NEVER_FILLED:
        assert sum(kept for _, _, kept, _ in told(tmp_path).values()) > 0
    assert through == run(tmp_path, program, None)


def test_a_write_is_seen_by_the_next_read(tmp_path: Path) -> None:
    between = """
with h5py.File("x.h5", "r+") as f:
    x = f["in/gzip"]
    print(x[0, 0], x[10, 0], x[0, 0])
    x[0, 0] = 77
    print(x[0, 0], x[10, 0], x[0, 0])
"""
    assert run(tmp_path, between) == "0 70 0\n77 70 77\n"
    assert told(tmp_path) == {"/in/gzip": (6, 4, 2, 0)}
