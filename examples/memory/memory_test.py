"""h5py finds in memory what it finds in a file, and files in memory go together as files do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEADRACE = Path(sys.executable).with_name("headrace")
FILES = """
import h5py

for name in ("a.h5", "b.h5"):
    with h5py.File(name, "w") as file:
        file.create_dataset("x", data=range(5), chunks=(2,), maxshape=(None,), compression="gzip")
        file["s"] = ["one", "another"]
with h5py.File("a.h5", "r+") as a, h5py.File("b.h5", "r+") as b:
    a["x"].resize((7,))
    a["link"] = h5py.ExternalLink("b.h5", "/x")
    b["x"][0] = 10
    print(a["link"][...], a["link"].file.filename, a["x"][...])
    a.copy("s", "copy")
    a.copy("s", b, "of_a")
    b["of_a"][0] = "changed"
    print(a["copy"].asstr()[...], b["of_a"].asstr()[...], a["s"].asstr()[...])
    for call in (lambda: a.id.get_vfd_handle(), lambda: a.id.get_filesize(),
                 lambda: h5py.File("a.h5", "w")):
        try:
            print("done", call())
        except Exception as error:
            print(error)
print(h5py.File("b.h5")["of_a"].asstr()[0])
"""
DELETED = """
import ctypes
import h5py

with open("/proc/self/maps") as maps:
    paths = [line.split()[-1] for line in maps]
library = ctypes.CDLL(next(p for p in paths if "/libhdf5" in p and "_hl" not in p))
library.H5Fdelete.argtypes = [ctypes.c_char_p, ctypes.c_int64]
with h5py.File("m.h5", "w") as file:
    file["x"] = 1
    print(library.H5Fdelete(b"m.h5", 0), file["x"][()])
print(library.H5Fdelete(b"m.h5", 0), library.H5Fdelete(b"m.h5", 0))
try:
    h5py.File("m.h5")
except FileNotFoundError as error:
    print("gone")
"""


def run(program: list[str], cwd: Path, stack: str | None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"HEADRACE_REPORT": str(cwd / "report.jsonl")}
    environment["HDF5_PLUGIN_PATH"] = str(HERE.parents[1] / "build/dev/lib/plugins")
    launcher = [] if stack is None else [str(HEADRACE), "run", "--quiet", "--stack", stack, "--"]
    return subprocess.run(
        [*launcher, sys.executable, *program],
        cwd=cwd,
        env=environment,
        check=True,
        text=True,
        capture_output=True,
        timeout=120,
    )


def counts(folder: Path) -> dict[str, int]:
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]
    found: dict[str, int] = {}
    for line in lines:
        if line["event"] == "counts" and line["name"] == "headrace_memory":
            found |= line["calls"]
    return found


def test_a_program_sees_what_it_sees_of_a_file(tmp_path: Path) -> None:
    for name in ("native", "memory"):
        (tmp_path / name).mkdir()
    program = [str(HERE / "program.py")]
    native = run(program, tmp_path / "native", None)
    memory = run(program, tmp_path / "memory", "memory")
    assert len(native.stdout.splitlines()) > 100
    assert memory.stdout == native.stdout
    assert native.stderr.endswith("on disk\n")
    assert memory.stderr.endswith("in memory\n")
    assert counts(tmp_path / "memory")["dataset_write"] > 50


def test_files_link_to_each_other_and_are_copied(tmp_path: Path) -> None:
    said = run(["-c", FILES], tmp_path, "memory").stdout.splitlines()
    assert said[:2] == [
        "[10  1  2  3  4] b.h5 [0 1 2 3 4 0 0]",
        "['one' 'another'] ['changed' 'another'] ['one' 'another']",
    ]
    assert "headrace_memory does not support" in said[2]
    assert "headrace_memory does not support" in said[3]
    assert "already open" in said[4]
    assert said[5:] == ["changed"]
    assert list(tmp_path.glob("*.h5")) == []


def test_deleted_files_are_gone(tmp_path: Path) -> None:
    assert run(["-c", DELETED], tmp_path, "memory").stdout == "-1 1\n0 -1\ngone\n"
