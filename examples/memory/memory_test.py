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
