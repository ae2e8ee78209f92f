"""Which lines of a compiled program have called."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.build import ROOT
from harness.prefix import Hdf5
from layers.trace.ranks.conftest import told_by

from headrace.trace.model import places

SOURCE = ROOT / "tests/layers/log/ranks/mpi_told.c"


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
def test_lines_are_those_of_the_calls(hdf5: Hdf5, tmp_path: Path) -> None:
    source = SOURCE.read_text().splitlines()
    calls = told_by(hdf5, tmp_path, 1, "callers=true;").calls.to_pylist()
    seen = set()
    for call, function in (("dataset_write", "H5Dwrite"), ("dataset_create", "H5Dcreate2")):
        for line in {each["line"] for each in calls if each["call"] == call}:
            file, _, number = line.rpartition(":")
            assert Path(file).name == SOURCE.name
            assert function in source[int(number) - 1]
            seen.add(line)
    assert len(seen) == 3, "a write of one dataset, one of two, and where they are made"


def test_what_has_no_debug_information_is_told_by_its_address(tmp_path: Path) -> None:
    (tmp_path / "simulation").write_bytes(b"no program")
    lines = {
        1: {"module": str(tmp_path / "simulation"), "offset": 0x1234},
        2: {"module": "/nowhere/library.so", "offset": 16},
        3: {"source": "a.py", "at": 3},
    }
    places.resolve(lines)
    assert [(each["source"], each["at"]) for each in lines.values()] == [
        ("simulation", "0x1234"),
        ("library.so", "0x10"),
        ("a.py", 3),
    ]
