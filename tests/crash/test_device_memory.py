"""Buffers in a GPU's memory: HDF5 gets them as the program gave them, and no layer looks inside.

The memory is played: who touches it by the CPU dies. Natively HDF5 copies what it converts,
filters, or keeps in a chunk cache or a sieve buffer, so that it dies there with such memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness.build import built, preloads
from harness.run import Result, run
from harness.stack import NATIVE, stack_env
from harness.stacked import Stacked

PROGRAM = Path(__file__).with_name("device_memory.py")
COMPARE = """
import h5py, numpy as np
print((h5py.File("x.h5")["d"][:] == np.load("expected.npy")).all())
"""


def start(stacked: Stacked, stack: str, case: str) -> Result:
    env = stack_env(stack, stacked.folder / "report")
    env["LD_PRELOAD"] = preloads(built("tests/crash/libcuda.so.1"))
    return run([sys.executable, str(PROGRAM), case], env=env, cwd=stacked.folder, limit=60)


LATER = "log(canonicalise=later)"
PIECES = "stripe(files=3,size=4KiB)"


@pytest.mark.parametrize("stack", [NATIVE, "async", "log", LATER, "tune,async,log", PIECES])
def test_data_are_as_the_program_gave_them(stacked: Stacked, stack: str) -> None:
    done = start(stacked, stack, "others")
    assert done.status == 0, done.text
    compared = stacked.start(COMPARE, stack if stack in (LATER, PIECES) else NATIVE)
    assert compared.out.strip() == b"True", compared.text
    if stack != NATIVE:
        assert stacked.report.calls("vol")["dataset_write"] > 60, "the layer was not there"
    if "log" in stack:
        told = stacked.report.select("statistics", name="headrace_log")
        assert sum(each["values"].get("writes_logged", 0) for each in told) >= 64


def test_a_power_cut_cannot_undo_its_writes(stacked: Stacked) -> None:
    done = start(stacked, "fault(kind=power_cut,first=1000000,outcome=torn)", "others")
    assert done.status == 1
    assert "cannot undo a write from a GPU's memory; file " in done.text, done.text


def test_a_log_is_not_put_over_it(stacked: Stacked) -> None:
    done = start(stacked, LATER, "log")
    assert done.status == 1
    assert "is not read this way before" in done.text, done.text
