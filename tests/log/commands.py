"""The commands of the log, as they are installed, and files for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.run import Result, run
from harness.stack import CLEAN

HEADRACE = Path(sys.executable).with_name("headrace")
WRITE = """
import os, h5py, numpy as np
f = h5py.File("x.h5", "w", libver="{libver}")
d = f.create_dataset("d", (100, 1000), "i4", chunks=(10, 100), compression=1)
for k in range(0, 1000, 10):
    d[:, k] = k
f.flush()
d[:, 1::2] = 1
{end}
"""
RIGHT = """
import h5py
d = h5py.File("x.h5")["d"][...]
for k in range(0, 1000, 10):
    assert (d[:, k] == k).all()
"""


def headrace(folder: Path, *args: str) -> Result:
    return run([HEADRACE, *args], env=CLEAN, cwd=folder, limit=60)


def write(folder: Path, end: str, libver: str = "earliest") -> None:
    program = [sys.executable, "-c", WRITE.format(end=end, libver=libver)]
    stack = ["--stack", "log(canonicalise=later)", "--"]
    subprocess.run([HEADRACE, "run", *stack, *program], env=CLEAN, cwd=folder, check=True)
    assert len(logs(folder)) == 1


def logs(folder: Path) -> list[Path]:
    return list(folder.glob("x.h5.headrace/*.log"))


def assert_right(folder: Path, more: str) -> None:
    done = run([sys.executable, "-c", RIGHT + more], env=CLEAN, cwd=folder, limit=60)
    assert done.status == 0, done.text
