"""HEADRACE=off leaves programs to HDF5; and files that a setting names and nobody can write."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from harness.program import text_of
from harness.run import Result, run
from harness.stack import CLEAN, exported


def write_and_read() -> None:
    with h5py.File("x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(1000), chunks=(10,), compression="gzip")
        file["link"] = h5py.SoftLink("/x")
        file["reference"] = file["x"].ref
    with h5py.File("x.h5", "r+") as file:
        file["x"][:10] = 7
        assert file[file["reference"][()]].name == "/x"
        # What only HDF5's own connector and driver can do.
        assert file.id.get_vfd_handle() > 0
        assert file["x"].id.get_chunk_info(0).byte_offset > 0
        assert (file["link"][8:12] == [7, 7, 10, 11]).all()
    with netCDF4.Dataset("x.nc", "w") as other:
        other.createDimension("n", None)
        other.createVariable("v", "i4", ("n",))[:] = np.arange(100)
    assert netCDF4.Dataset("x.nc")["v"][99] == 99


def _run(folder: Path, stack: str, **environ: str) -> Result:
    command = [sys.executable, "-c", text_of(write_and_read)]
    return run(command, env={**CLEAN, **exported(stack), **environ}, cwd=folder)


@pytest.mark.parametrize("stack", ["null(seat=vfd)", "tune,async,log", "async,stripe"])
def test_off_leaves_a_program_to_hdf5(tmp_path: Path, stack: str) -> None:
    done = _run(tmp_path, stack, HEADRACE="off", HEADRACE_REPORT=str(tmp_path / "report"),
                HEADRACE_NO_SUCH_SETTING="1")  # fmt: skip
    assert (done.status, done.text) == (0, "")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.h5", "x.nc"]


def test_on_is_as_without(tmp_path: Path) -> None:
    done = _run(tmp_path, "null(seat=vfd)", HEADRACE="on", HEADRACE_REPORT="report")
    assert (done.status, done.text) == (0, "")
    assert (tmp_path / "report").exists()


def test_another_word_is_an_error(tmp_path: Path) -> None:
    done = _run(tmp_path, "null", HEADRACE="of")
    assert done.status != 0
    assert "HEADRACE: 'of' is not one of on" in done.text


@pytest.mark.parametrize("variable", ["HEADRACE_LOG_FILE", "HEADRACE_REPORT"])
def test_a_file_that_cannot_be_written_is_told_once(tmp_path: Path, variable: str) -> None:
    there = tmp_path / "no such folder/file"
    done = _run(tmp_path, "stripe", **{variable: str(there), "HEADRACE_LOG_LEVEL": "info"})
    assert done.status == 0, done.text
    # Each of the two copies of HDF5 has its own copy of the plug-ins.
    lines = set(done.err.decode().splitlines())
    assert lines == {
        f"headrace: {variable} names {there}: No such file or directory; nothing is written there"
    }
    assert len(done.err.decode().splitlines()) <= 2
