"""h5py finds in memory what it finds in a file, and what the connector refuses says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEADRACE = Path(sys.executable).with_name("headrace")
REFUSED = """
import h5py

with h5py.File("m.h5", "w") as file:
    for more in ({"chunks": (2,)}, {"compression": "gzip"}, {"maxshape": (None,)}):
        try:
            file.create_dataset("d", (4,), "i4", **more)
        except (OSError, ValueError) as error:
            print(error)
    file["x"] = [1, 2]
    for call in (lambda: file.id.get_vfd_handle(),
                 lambda: file.copy("x", "y"), lambda: file["x"].id.get_num_chunks()):
        try:
            print("done", call())
        except Exception as error:
            print(error)
    print(file["x"][...])
"""

STALE = """
import ctypes
import h5py

class Token(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint64 * 2)]

with open("/proc/self/maps") as maps:
    paths = [line.split()[-1] for line in maps]
library = next(path for path in paths if "/libhdf5" in path and "_hl" not in path)
open_by_token = ctypes.CDLL(library).H5Oopen_by_token
open_by_token.argtypes, open_by_token.restype = [ctypes.c_int64, Token], ctypes.c_int64
with h5py.File("m.h5", "w") as file:
    group = file.create_group("a/b")
    group["ring"] = file["a"]
    found = [open_by_token(file.id.id, Token((number, 0))) >= 0 for number in range(1, 5)]
    print(found, file["a/b/ring/b/ring"].name)
"""
OVERWRITTEN = """
from pathlib import Path
import h5py

with h5py.File("m.h5", "w") as file:
    strings = file.create_dataset("s", (2,), h5py.string_dtype())
    pairs = file.create_dataset("p", (2,), [("n", "i4"), ("s", h5py.string_dtype())])
    for number in range(400):
        strings[0] = str(number) * 500_000
        pairs[1] = (number, str(number) * 500_000)
        file.attrs["a"] = str(number) * 500_000
    assert file["s"][0] == b"399" * 500_000 == pairs[1]["s"] == file.attrs["a"].encode()
    # What getrusage() tells starts with what the process was that started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    print(int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024)
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


def test_what_it_has_not_is_refused_by_name(tmp_path: Path) -> None:
    said = run(["-c", REFUSED], tmp_path, "memory").stdout.splitlines()
    assert said[-1] == "[1 2]"
    assert all("dataset /d cannot be created: headrace_memory" in line for line in said[:3]), said
    assert not any(line.startswith("done") for line in said[3:-1]), said
    assert any("headrace_memory" in line for line in said[3:-1]), said


def test_a_stale_token_is_refused_though_links_form_a_ring(tmp_path: Path) -> None:
    said = run(["-c", STALE], tmp_path, "memory").stdout
    assert said == "[True, True, True, False] /a/b/ring/b/ring\n"


def test_overwritten_strings_are_freed(tmp_path: Path) -> None:
    megabytes = int(run(["-c", OVERWRITTEN], tmp_path, "memory").stdout)
    assert megabytes < 200, "of 1.6 GB in all"
