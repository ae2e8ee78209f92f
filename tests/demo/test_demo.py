"""The demonstration succeeds when all is the same, and fails when anything is not."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import Program, text_of

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/run.py"

REWRITE = str(ROOT / "demo/rewrite.py")
BROKEN = Path(__file__).with_name("broken.py")

# What broken.py changes, and what is said of that.
CHANGES = {
    "a_value": "/group/matrix: the values differ",
    "a_nan": "/group/matrix: the values differ",
    "a_string": "/again: the values differ",
    "an_attribute": "/group: attribute unit: 'm' and 'mm'",
    "a_missing_attribute": "attribute unit is missing in one",
    "a_missing_object": "/: names is missing in one",
    "a_further_object": "/: more is missing in one",
    "a_link": "/: soft: the links lead elsewhere",
    "an_object_of_its_own_for_a_second_name": "not another name of the same object in both",
    "a_type": "/scalar: the types differ",
    "the_storage": "/group/matrix: they are stored differently",
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


def demo(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, DEMO, *arguments]
    env = os.environ | environ
    return subprocess.run(command, env=env, check=False, capture_output=True, text=True)


def run_with(program: Path, source: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    work = source.with_name("work")
    told = ("--file", source, "--program", program, "--work", work, "--rounds", "1")
    return demo(*told, **environ)


def run_text(program: Program, source: Path) -> subprocess.CompletedProcess[str]:
    path = source.with_name("program.py")
    path.write_text(text_of(program), encoding="utf-8")
    return run_with(path, source)


def test_succeeds_on_the_sample(tmp_path: Path) -> None:
    done = demo("--rounds", "1", "--work", tmp_path, "--times", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Now with 3 times as much, in about " in done.stdout
    assert done.stdout.count("Headrace handled the files") == 2
    small, large = (f"10x_pbmc68k_reduced{more}.h5ad" for more in ("", "-3-times"))
    with (
        h5py.File(tmp_path / "headrace" / small) as one,
        h5py.File(tmp_path / "headrace" / large) as other,
    ):
        assert np.array_equal(other["X"][...], np.tile(one["X"][...], (3, 1)))
    assert "as in the original, 44 objects" in done.stdout
    assert "rewritten with gzip" in done.stdout
    figure = ET.parse(tmp_path / "demo.svg").getroot()  # noqa: S314, our own
    words = [element.text for element in figure.iter("{http://www.w3.org/2000/svg}text")]
    assert {"native", "async", "rewrite", "read back"} <= set(words)


def test_succeeds_when_nothing_is_changed(source: Path) -> None:
    """The ground for the tests below: what they change is all that is wrong there."""
    done = run_with(BROKEN, source, CHANGE="nothing")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " no " not in done.stdout


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CHANGES)
def test_fails_when_the_file_differs(source: Path, name: str) -> None:
    done = run_with(BROKEN, source, CHANGE=name)
    assert done.returncode == 1, done.stdout + done.stderr
    assert CHANGES[name] in done.stdout
    assert "h5py without plug-ins: content and storage" in done.stdout


def test_fails_when_the_file_grows(source: Path) -> None:
    """Content and storage are as they were: the bytes behind them belong to nothing."""
    done = run_with(BROKEN, source, CHANGE="the_size")
    assert done.returncode == 1, done.stdout + done.stderr
    assert " no  the file is at most 1% larger" in done.stdout


def rewrite_without_headrace() -> None:
    os.environ.pop("HDF5_VOL_CONNECTOR", None)
    runpy.run_path(REWRITE, run_name="__main__")


def test_fails_when_headrace_was_not_there(source: Path) -> None:
    done = run_text(rewrite_without_headrace, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no vol.file_create was called" in done.stdout


def test_fails_when_the_program_fails(source: Path) -> None:
    done = run_text("raise SystemExit('out of order')", source)
    assert done.returncode == 1
    assert "out of order" in done.stderr
