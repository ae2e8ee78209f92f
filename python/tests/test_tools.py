"""The commands that become programs of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["headrace-model", "presets"], "lustre-160"),
        (["headrace-bench", "--hdf5", "/nowhere/libhdf5.so", "ior"], "/nowhere/libhdf5.so"),
        (["headrace-bench", "--hdf5=/nowhere/libhdf5.so", "--help"], "/nowhere/libhdf5.so"),
        # With the libhdf5 of h5py, where the system has none.
        (["headrace-bench", "vpic", "--help"], "--particles"),
        (["headrace-bench", "vpic", "--list"], "vpic"),
    ],
)
def test_the_commands_become_the_programs(command: list[str], says: str) -> None:
    done = subprocess.run(
        [SCRIPTS / command[0], *command[1:]], capture_output=True, text=True, check=False
    )
    assert says in done.stdout + done.stderr
    assert done.returncode in (0, 2)
