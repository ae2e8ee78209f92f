"""`headrace doctor --file` tells which datasets the async layer takes over."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import ROOT
from harness.run import Result, run
from harness.stack import CLEAN

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    file = tmp_path / "kinds.h5"
    with h5py.File(file, "w") as f:
        a = np.arange(1000.0)
        f["contiguous"] = a
        f.create_dataset("chunked", data=a, chunks=(100,))
        f.create_dataset("g/gzip", data=a, chunks=(100,), compression="gzip", shuffle=True)
        f.create_dataset("g/scaled", data=a, chunks=(100,), scaleoffset=2)
        f.create_dataset("strings", data=["a", "b"], chunks=(1,), compression="gzip")
        f.create_dataset("large", shape=(10**7,), dtype="f8", chunks=(2_000_000,), compression=1)
    return file


def doctor(file: Path, *options: str) -> Result:
    env = {**CLEAN, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200"}
    program = [sys.executable, "-c", "from headrace.cli import app; app()"]
    return run([*program, "doctor", "--file", file, *options], env=env, cwd=file.parent, limit=60)


def test_the_doctor_tells_what_is_taken_over(kinds: Path) -> None:
    done = doctor(kinds, "--stack", "async(chunk_cache=12MiB)", "--json")
    assert done.status == 0, done.text
    told = {one["dataset"]: one["why_not"] for one in json.loads(done.out)["datasets"]}
    assert told == {
        "/chunked": "filters",
        "/contiguous": "layout",
        "/g/gzip": "",
        "/g/scaled": "filters",
        "/large": "chunk_cache",
        "/strings": "datatype",
    }
    lines = doctor(kinds).out.decode().splitlines()
    (row,) = [line.split() for line in lines if line.startswith("/g/gzip")]
    assert row == ["/g/gzip", "100", "shuffle,", "deflate", "yes"]
    (row,) = [line.split() for line in lines if line.startswith("/chunked")]
    assert "it has no filters" in " ".join(row)
    without = doctor(kinds, "--stack", "async(filters=false)", "--json")
    assert {one["why_not"] for one in json.loads(without.out)["datasets"]} == {"file"}


def test_the_doctor_says_what_it_cannot_tell(kinds: Path) -> None:
    for options, words in (
        (("--stack", "async(seat=vfd)"), "no async layer"),
        (("--", "true"), "not both"),
    ):
        done = doctor(kinds, *options)
        assert done.status == 2
        assert words in done.err.decode()
    done = doctor(kinds.with_name("missing.h5"))
    assert done.status == 2
    assert "missing.h5" in done.err.decode()
