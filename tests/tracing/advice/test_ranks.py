"""Rules about ranks, by programs over MPI and by several processes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from harness.layer import NATIVE_BELOW
from harness.prefix import Hdf5
from harness.ranks import run_kernel

import headrace.trace
from headrace.trace.advice import Advice, advise, evidence, ranks
from headrace.trace.summary import uses

SLOW = "mode=delay;preset=none;bandwidth=1000000000;latency=50us;stripe_size=1GiB;"


def told(hdf5: Hdf5, folder: Path, case: str) -> list[Advice]:
    """Of a case of headrace-bench's kernel `vpic` on two ranks, where a request takes long."""
    traced = folder / case
    below = f"under_vol=7202;under_info={{{SLOW}{NATIVE_BELOW}}}"
    sizes = ("--particles", "64Ki", "--slow-particles", "16Ki", "--timesteps", "1")
    connector = f"headrace_trace output={traced};{below}"
    run_kernel(hdf5, folder, 2, connector, case, "vpic", *sizes)
    trace = headrace.trace.open(traced)
    assert [each.rank for each in trace.processes] == [0, 1]
    return advise(trace, uses(trace))


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)
def test_small_independent_writes(hdf5: Hdf5, tmp_path: Path) -> None:
    found = [
        each
        for each in told(hdf5, tmp_path, "strided-independent")
        if each.rule == "independent_writes"
    ]
    assert len(found) == 1, "of all eight datasets together"
    assert found[0].subject.endswith(" more")
    assert found[0].gain > 0.01
    assert "mpi_logs=rank" in found[0].code
    assert "H5Pset_dxpl_mpio" in found[0].change, "the program is in C"
    near = told(hdf5, tmp_path, "contiguous-independent")
    assert "independent_writes" not in {each.rule for each in near}


class Fake:
    """A rank that has written to one file: (begin, duration, bytes) of each request, in µs."""

    def __init__(self, rows: list[tuple[int, int, int]], ranks: int = 2) -> None:
        begin, duration, length = np.array(rows, np.int64).T
        zeros = np.zeros(len(rows), np.int64)
        self.storages = {5: "/data/x.h5"}
        self.process = SimpleNamespace(clock_offset=0, storages={5: {"ranks": ranks}})
        self.requests = {
            "file": zeros + 5, "type": zeros + evidence.RAW, "kind": zeros + 1, "failed": zeros,
            "collective": zeros, "length": length, "begin": 1000 * begin,
            "duration": 1000 * duration,
        }  # fmt: skip


def shared_file(*seats: Fake) -> list[Advice]:
    return list(ranks.shared_file(SimpleNamespace(trace=SimpleNamespace(seats=seats))))  # type: ignore[arg-type]


def test_ranks_that_wait_for_each_other() -> None:
    alone = [(1000 * i, 100, 1 << 20) for i in range(4)]
    waiting = [(10_000 + 300 * i, 300, 1 << 20) for i in range(20)]
    (advice,) = shared_file(Fake(alone + waiting), Fake([(t + 50, d, n) for t, d, n in waiting]))
    assert advice.subject == "x.h5"
    assert advice.gain == pytest.approx(20 * 200e-6)
    assert "stripe" in advice.stack
    apart = [(t + 100_000, d, n) for t, d, n in waiting]
    assert not shared_file(Fake(alone + waiting), Fake(apart)), "they do not meet"
    assert not shared_file(Fake(alone + waiting, 1), Fake(waiting, 1)), "files of their own"
    quick = [(10_000 + 120 * i, 120, 1 << 20) for i in range(20)]
    assert not shared_file(Fake(alone + quick), Fake(alone + quick)), "none waits"
    assert not shared_file(Fake(alone + waiting)), "one alone"
