"""Power cuts under h5py programs: what a crash test of another layer looks like."""

from __future__ import annotations

import os
import signal
from typing import Any

import h5py
import numpy as np
import pytest
from harness.run import Result
from harness.stack import NATIVE
from layers.fault.conftest import FaultLayer


def append_rows() -> None:
    """Three to a flush; says what was flushed."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("rows", (0, 500), "i8", maxshape=(None, 500), chunks=(1, 500))
    for n in range(1, 13):
        d.resize(n, 0)
        d[n - 1] = n
        if n % 3 == 0:
            f.flush()
            os.write(1, b"%d " % n)
    f.close()
    os.write(1, b"closed")


def read_rows() -> None:
    with h5py.File("x.h5") as f:
        rows = f["rows"][:]
    assert (rows == np.arange(1, len(rows) + 1)[:, None]).all()
    print(len(rows))


def rows_flushed(done: Result) -> int:
    words = done.out.decode().replace("closed", "").split()
    return int(words[-1]) if words else 0


@pytest.mark.parametrize("op", ["write", "truncate", "flush", "close"])
def test_what_was_flushed_is_there(fault: FaultLayer, op: str) -> None:
    """The power is cut at each operation in turn, until the program comes to its end."""
    cuts = 0
    for first in range(1, 60):
        done = fault.start(append_rows, kind="power_cut", op=op, first=first, outcome="lost")
        if done.out.endswith(b"closed"):
            break
        cuts += 1
        assert done.status == -signal.SIGKILL, done.text
        if rows_flushed(done) > 0:
            read = fault.start(read_rows, NATIVE)
            assert read.status == 0, read.text
            # The flush of the last rows may have been over when the program was about to say so.
            assert int(read.out) in (rows_flushed(done), 12 if op == "close" else -1)
    assert cuts >= {"write": 15, "truncate": 5, "flush": 6, "close": 1}[op]


def test_native_files_do_not_survive_all_that_disks_do(fault: FaultLayer) -> None:
    """HDF5 overwrites metadata in place: the driver finds that, as a crash test should."""
    readable = []
    for seed in range(12):
        options: dict[str, Any] = {"op": "flush", "first": 5, "outcome": "reordered", "seed": seed}
        done = fault.start(append_rows, kind="power_cut", **options)
        assert done.status == -signal.SIGKILL
        readable.append(fault.start(read_rows, NATIVE).status == 0)
    assert {True, False} == set(readable)
    assert all(line["files"][0]["changes"] > 3 for line in fault.journal)


def test_files_that_are_read_only_are_left_alone(fault: FaultLayer) -> None:
    fault.start("import h5py; h5py.File('x.h5', 'w')['a'] = 5", NATIVE)
    done = fault.start(
        "import h5py; h5py.File('x.h5')['a'][()]", kind="power_cut", op="read", first=3
    )
    assert done.status == -signal.SIGKILL
    assert fault.value("f['a'][()]") == "5"


def test_a_program_without_power_ends_in_order(fault: FaultLayer) -> None:
    done = fault.start(
        append_rows, kind="power_cut", op="flush", first=5, outcome="torn", then="error"
    )
    assert done.status == 1, done.text
    assert "injected fault: power cut at matching operation 5, flush of file" in done.text
    assert len(fault.journal) == 1
    read = fault.start("import h5py; print(h5py.File('x.h5', 'w', locking=False))")
    assert read.status == 0, read.text
