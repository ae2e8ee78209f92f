"""Programs in hostile circumstances: killed, without a place for their trace, with many files."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from layers.trace.conftest import Traced


def write_until_killed() -> None:
    import os  # noqa: PLC0415

    f = h5py.File("x.h5", "w")
    d = f.create_dataset("x", (1 << 20,), "i8")
    begin, i = time.monotonic(), 0
    while time.monotonic() < begin + 2:
        d[i] = i
        i += 1
        if time.monotonic() < begin + 1:
            Path("early").write_text(str(i))
    os.kill(os.getpid(), signal.SIGKILL)


def test_all_but_the_last_second_survives_a_kill(layer: Traced) -> None:
    assert layer.start(write_until_killed).status == -signal.SIGKILL
    trace = layer.read()
    recorded = sum(each["call"] == "dataset_write" for each in trace.calls.to_pylist())
    assert recorded >= int((layer.folder / "early").read_text())


def write_some() -> None:
    with h5py.File("x.h5", "w") as f:
        for i in range(100):
            f[f"d{i}"] = np.arange(i + 1)
    with h5py.File("x.h5") as f:
        print(sum(int(f[f"d{i}"][i]) for i in range(100)))


def test_a_trace_that_cannot_be_made_costs_the_program_nothing(layer: Traced) -> None:
    layer.output.write_text("a file, not a folder")
    assert layer.python(write_some, HEADRACE_LOG_LEVEL="warning").out.decode() == "4950\n"
    assert layer.log.count("nothing more is recorded") == 1
    assert "traced" in layer.log


def write_much() -> None:
    import resource  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("x", (1000,), "i8")
        for i in np.random.default_rng(1).integers(0, 1000, 60_000):
            d[i] = i
    with h5py.File("x.h5") as f:
        print(f["x"].shape)


def test_a_full_disk_ends_the_trace_and_not_the_program(layer: Traced) -> None:
    done = layer.python(write_much, HEADRACE_LOG_LEVEL="warning")
    assert done.out.decode() == "(1000,)\n"
    assert layer.log.count("nothing more is recorded") == 1
    (process,) = layer.read().processes
    assert process.damage == "", "what is there is whole"
    assert len(process.calls["number"]) > 1000


def reach_a_limit_at_the_end() -> None:
    """In children, whose own thread writes what is left, or the recorder's does: that is chance."""
    import os  # noqa: PLC0415
    import resource  # noqa: PLC0415

    def work(name: str) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, 15_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        with h5py.File(name, "w") as f:
            d = f.create_dataset("x", (1000,), "i8")
            for i in np.random.default_rng(1).integers(0, 1000, 1000):
                d[i] = i

    ends = []
    for i in range(10):
        if (child := os.fork()) == 0:
            work(f"{i}.h5")
            os._exit(0)
        ends.append(os.waitpid(child, 0)[1])
    print(ends)


def test_a_limit_that_is_met_at_the_end_kills_no_program(layer: Traced) -> None:
    done = layer.python(reach_a_limit_at_the_end, HEADRACE_LOG_LEVEL="warning")
    assert done.out.decode() == f"{[0] * 10}\n"
    assert layer.log.count("nothing more is recorded") == 10


def open_many_files() -> None:
    for i in range(3000):
        with h5py.File(f"{i % 10}.h5", "w") as f:
            f["x"] = i
    with Path("/proc/self/status").open() as lines:
        print(next(line for line in lines if line.startswith("VmHWM")).split()[1])


@pytest.mark.long
def test_many_files_take_little_memory(layer: Traced) -> None:
    before = int(layer.plain(open_many_files))
    assert int(layer.python(open_many_files).out) < before + 16 * 1024
    (process,) = layer.read().processes
    assert len(process.files) == 3000
