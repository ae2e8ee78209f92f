"""Programs that read and write a file's bytes past HDF5, once it has told them where they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from harness.run import run
from harness.stack import NATIVE, stack_env
from harness.stacked import Stacked

PROGRAM = Path(__file__).with_name("own_reads.py")

# A file with a log is not opened again before its program has closed it (docs/guide/log.md).
REFUSED = {"log(canonicalise=later)": {"other_library"}}


@pytest.mark.parametrize(
    "stack",
    [
        *(pytest.param(stack, marks=pytest.mark.long) for stack in (NATIVE, "async", "log")),
        *("async(filters=false)", "log(canonicalise=later)", "async,log"),
    ],
)
def test_bytes_are_in_the_file(stacked: Stacked, stack: str) -> None:
    env = stack_env(stack, stacked.folder / "report")
    done = run([sys.executable, str(PROGRAM)], env=env, cwd=stacked.folder, limit=120)
    assert done.status == 0, done.text
    told = json.loads(done.out.decode().splitlines()[-1])
    assert told["cases"] == 15
    assert set(told["failed"]) == REFUSED.get(stack, set()), "\n".join(
        f"{name}: {why}" for name, why in told["failed"].items()
    )
    if stack != NATIVE:
        assert stacked.report.calls("vol")["dataset_write"] > 20, "the layer was not there"
