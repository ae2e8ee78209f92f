"""Rules about ranks, by programs over MPI and by several processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.layer import NATIVE_BELOW
from harness.prefix import Hdf5
from harness.ranks import run_kernel

import headrace.trace
from headrace.trace.advice import Advice, advise
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
