"""Built with the headers of an HDF5 that is installed; the same plug-ins serve any libhdf5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from install.commands import output_of

PROGRAM = "import h5py; h5py.File('x.h5', 'w')['a'] = 1; print(h5py.File('x.h5')['a'][()])"


@pytest.mark.timeout(900)
def test_headers_of_a_parallel_1_14_under_a_serial_2(root: Path, tmp_path: Path) -> None:
    prefix = root / "build/hdf5/1.14.5-openmpi/install"
    configured = output_of(
        "cmake", "-G", "Ninja", "-S", root, "-B", "b", f"-DHDF5_ROOT={prefix}", cwd=tmp_path
    )
    assert "HDF5 headers: 1.14.5" in configured
    targets = ["headrace_core", "headrace_null", "headrace_null_vfd"]
    output_of("cmake", "--build", "b", "--target", *targets, cwd=tmp_path)
    shown = output_of(
        root / ".venv/bin/python",
        "-c",
        PROGRAM,
        cwd=tmp_path,
        HDF5_PLUGIN_PATH="b/lib/plugins",
        HDF5_VOL_CONNECTOR="headrace_null",
        HEADRACE_REPORT="report",
    )
    assert shown == "1\n"
    events = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    loads = {(event["seat"], event["version"]) for event in events if event["event"] == "load"}
    assert loads == {("vol", "2.0.0"), ("vfd", "2.0.0")}
