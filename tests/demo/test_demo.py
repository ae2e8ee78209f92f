"""The demonstration succeeds when all is the same, and fails when anything is not."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/run.py"

# What the demonstration's program does, and then something else when it runs under Headrace.
BROKEN = """
import os, runpy, sys
import h5py
runpy.run_path({program!r}, run_name="__main__")
with h5py.File(sys.argv[2], "r+") as file:
    if "HDF5_VOL_CONNECTOR" in os.environ:
        {change}
"""

CHANGES = {
    "a value": ('file["group/matrix"][3, 1] += 1', "/group/matrix: the values differ"),
    "a NaN": ('file["group/matrix"][0, 0] = 0', "/group/matrix: the values differ"),
    "a string": ('file["names"][1] = "other"', "/again: the values differ"),
    "an attribute": ('file["group"].attrs["unit"] = "mm"', "/group: attribute unit: 'm' and 'mm'"),
    "a missing attribute": ('del file["group"].attrs["unit"]', "attribute unit is missing in one"),
    "a missing object": ('del file["names"]', "/: names is missing in one"),
    "a further object": ('file["more"] = 1', "/: more is missing in one"),
    "a link": (
        'del file["soft"]; file["soft"] = h5py.SoftLink("/names")',
        "/: soft: the links lead elsewhere",
    ),
    "an object of its own for a second name": (
        'del file["again"]; file.copy("names", "again")',
        "not another name of the same object in both",
    ),
    "a type": (
        'del file["scalar"]; file["scalar"] = __import__("numpy").float32(2.5)',
        "/scalar: the types differ",
    ),
    "the storage": (
        'v = file["group/matrix"][...]; del file["group/matrix"]; file["group/matrix"] = v',
        "/group/matrix: they are stored differently",
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.h5"
    matrix = np.arange(40, dtype="f8").reshape(10, 4)
    matrix[0, 0] = np.nan
    with h5py.File(path, "w") as file:
        file["group/matrix"] = matrix
        file["group"].attrs["unit"] = "m"
        file["names"] = ["one", "two", "three"]
        file["again"] = file["names"]
        file["records"] = np.array([(1, b"a")], dtype=[("number", "i2"), ("text", "S3")])
        file["scalar"] = 2.5
        file["nothing"] = h5py.Empty("f4")
        file["type"] = np.dtype([("x", "f4")])
        file["soft"] = h5py.SoftLink("/group")
        file["external"] = h5py.ExternalLink("elsewhere.h5", "/there")
    return path


def demo(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEMO, *arguments], check=False, capture_output=True, text=True
    )


def run_with(program: str, source: Path) -> subprocess.CompletedProcess[str]:
    path = source.with_name("program.py")
    path.write_text(program, encoding="utf-8")
    work = source.with_name("work")
    return demo("--file", source, "--program", path, "--work", work, "--rounds", "1")


def broken(change: str) -> str:
    return BROKEN.format(program=str(ROOT / "demo/rewrite.py"), change=change)


def test_succeeds_on_the_sample(tmp_path: Path) -> None:
    done = demo("--rounds", "1", "--work", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as in the original, 44 objects" in done.stdout
    assert "rewritten with gzip" in done.stdout
    figure = ET.parse(tmp_path / "demo.svg").getroot()  # noqa: S314, our own
    words = [element.text for element in figure.iter("{http://www.w3.org/2000/svg}text")]
    assert {"native", "async", "rewrite", "read back"} <= set(words)


def test_succeeds_when_nothing_is_changed(source: Path) -> None:
    """The ground for the tests below: what they change is all that is wrong there."""
    done = run_with(broken("pass"), source)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " no " not in done.stdout


@pytest.mark.parametrize("name", CHANGES)
def test_fails_when_the_file_differs(source: Path, name: str) -> None:
    change, message = CHANGES[name]
    done = run_with(broken(change), source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stdout
    assert "h5py without plug-ins: content and storage" in done.stdout


def test_fails_when_the_file_grows(source: Path) -> None:
    """Content and storage are as they were: the bytes behind them belong to nothing."""
    change = 'file.close(); open(sys.argv[2], "ab").write(bytes(100_000))'
    done = run_with(broken(change), source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert " no  the file is at most 1% larger" in done.stdout


def test_fails_when_headrace_was_not_there(source: Path) -> None:
    program = "import os\nos.environ.pop('HDF5_VOL_CONNECTOR', None)\n" + broken("pass")
    done = run_with(program, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no vol.file_create was called" in done.stdout


def test_fails_when_the_program_fails(source: Path) -> None:
    done = run_with("raise SystemExit('out of order')", source)
    assert done.returncode == 1
    assert "out of order" in done.stderr
