"""Built with the headers of an HDF5 that is installed; the same plug-ins serve any libhdf5.

The build under the address sanitizer is such a one (CMakePresets.json), so each program that runs
under that sanitizer is a proof, too.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import h5py
from harness.program import text_of
from install.commands import output_of


def write_and_read() -> None:
    h5py.File("x.h5", "w")["a"] = 1
    print(h5py.File("x.h5")["a"][()])


def test_headers_of_a_parallel_1_14_under_a_serial_2(root: Path, tmp_path: Path) -> None:
    build = root / "build/asan"
    assert (build / "hdf5-headers/1.14.5").is_dir(), "run `make ctest-asan`"
    assert "HDF5_ROOT:PATH=" + str(root / "build/hdf5/1.14.5-openmpi/install") in (
        (build / "CMakeCache.txt").read_text()
    )
    ask = ["gcc", "-print-file-name=libasan.so"]
    sanitizer = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    shown = output_of(
        root / ".venv/bin/python",
        "-c",
        text_of(write_and_read),
        cwd=tmp_path,
        ASAN_OPTIONS="detect_leaks=0",
        LD_PRELOAD=sanitizer,
        HDF5_PLUGIN_PATH=str(build / "lib/plugins"),
        HDF5_VOL_CONNECTOR="headrace_null",
        HEADRACE_REPORT="report",
    )
    assert shown == "1\n"
    events = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    loads = {(event["seat"], event["version"]) for event in events if event["event"] == "load"}
    assert loads == {("vol", "2.0.0"), ("vfd", "2.0.0")}
