"""Writes of which it is known how many bytes overlap earlier ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = """
import h5py
import numpy as np

with h5py.File("o.h5", "w") as f:
    f.create_dataset("once", (10, 10), "i4")[...] = 1
    f.attrs["not"] = "counted"
    box = f.create_dataset("box", (10, 10), "f8")
    box[0:4, 0:4] = 1
    box[2:6, 2:6] = 2  # 4 elements again
    lists = f.create_dataset("lists", (20,), "i2")
    lists[[1, 3, 5]] = 1
    lists[0:4] = 2  # 2 again
    lists[::2] = 3  # 0, 2 again, not 4; nor 6 and so on
    points = f.create_dataset("points", (6, 6), "i8")
    points[np.eye(6, dtype=bool)] = 1
    points[0] = 2  # 1 again
    points[0:0] = 3
    grown = f.create_dataset("grown", (4, 4), "i4", maxshape=(None, None), chunks=(2, 2))
    grown[...] = 1
    grown.resize((6, 8))
    grown[0:4, 4:8] = 2
    grown[3:6] = 3  # 8 again
    f["hard"] = f["box"]
    f["hard"][9, 9] = 1
    f["hard"][9, 9] = 1  # 1 again
    del box
    f.move("box", "renamed")
    f["renamed"][0, 0:2] = 5  # 2 again
    f.create_dataset("text", (2,), h5py.string_dtype())[0] = "not followed"
"""
NAMES = ("written_bytes", "overlapped_bytes", "overlapped_by_ranks_bytes", "writes_not_followed")
# Bytes written, of these overlapped, and by several ranks, and writes that are not followed.
EXPECTED = {
    "once": (400, 0, 0, 0),
    "box": ((16 + 16 + 1 + 1 + 2) * 8, (4 + 1 + 2) * 8, 0, 0),
    "lists": ((3 + 4 + 10) * 2, (2 + 2) * 2, 0, 0),
    "points": ((6 + 6) * 8, 1 * 8, 0, 0),
    "grown": ((16 + 16 + 24) * 4, 8 * 4, 0, 0),
    "text": (0, 0, 0, 1),
}


def told(folder: Path) -> dict[str, tuple[int, ...]]:
    found = {}
    for line in (folder / "report.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "statistics" and event["name"] == "headrace_overlap":
            found[event["dataset"].removeprefix("/")] = tuple(
                event["values"].get(name, 0) for name in NAMES
            )
    return found


def test_overlaps_are_counted_for_each_dataset(tmp_path: Path) -> None:
    headrace = Path(sys.executable).with_name("headrace")
    environment = os.environ | {
        "HDF5_PLUGIN_PATH": str(HERE.parents[1] / "build/dev/lib/plugins"),
        "HEADRACE_REPORT": str(tmp_path / "report.jsonl"),
    }
    command = [str(headrace), "run", "--quiet", "--stack", "overlap", "--"]
    program = [sys.executable, "-c", PROGRAM]
    subprocess.run([*command, *program], cwd=tmp_path, env=environment, check=True, timeout=120)
    through = (tmp_path / "o.h5").read_bytes()
    assert told(tmp_path) == EXPECTED
    subprocess.run(program, cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / "o.h5").read_bytes() == through
