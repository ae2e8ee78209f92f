"""A new HDF5 that calls a callback with other arguments is noticed when Headrace is compiled."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.prefix import MATRIX, ROOT, Hdf5

_FUNCTION = re.compile(r"(\(\*\w+\)\s*\()([^()]*)(\);)")


def _headers(hdf5: str, folder: Path) -> Path:
    """HDF5's headers with a stand-in for MPI's, of which they need types alone."""
    shutil.copytree(Hdf5(hdf5).prefix / "include", folder / "include")
    (folder / "include/mpio.h").touch()
    (folder / "include/mpi.h").write_text(
        "typedef int MPI_Comm; typedef int MPI_Info; typedef int MPI_Datatype;\n"
    )
    return folder / "include"


def _compile(headers: Path) -> str:
    """Returns what the compiler says of the arguments of callbacks."""
    command = ["g++", "-std=c++20", "-fsyntax-only", "-fmax-errors=0", f"-I{ROOT}/src"]
    done = subprocess.run(
        [*command, "-isystem", headers, "-include", "vol/arguments.hpp", "-x", "c++", "-"],
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stderr


@pytest.mark.parametrize("hdf5", MATRIX)
def test_every_changed_signature_is_named(hdf5: str, tmp_path: Path) -> None:
    headers = _headers(hdf5, tmp_path)
    assert _compile(headers) == ""
    connector = headers / "H5VLconnector.h"
    text = connector.read_text()
    begin = text.index("typedef struct H5VL_info_class_t")
    changed = _FUNCTION.sub(
        lambda found: found[1] + ("" if found[2] == "void" else f"{found[2]}, ") + "int new);",
        text[begin:],
    )
    connector.write_text(text[:begin] + changed)
    rows = (ROOT / "src/vol/callbacks.def").read_text()
    callbacks = set(re.findall(r"^HEADRACE_VOL\((\w+),", rows, re.MULTILINE))
    assert len(callbacks) > 60
    named = re.findall(r"(\w+): HDF5 calls it with other arguments", _compile(headers))
    assert set(named) == callbacks
