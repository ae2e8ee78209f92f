"""A collective call returns when all ranks can read what any of them has written by it.

Under each layer: each collective call, then reads that ranks make together or each by itself, with
one rank late. Also looked at: what a rank has written by itself before others read together, and
what one still reads when others write together.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.build import built
from harness.nodes import HDF5, Nodes
from harness.prefix import Hdf5
from harness.ranks import ON_NODE, env_of, launch, told_by
from harness.run import run
from harness.stack import NATIVE

LATE = "25"  # milliseconds
WRITES = (
    *("write contiguous", "write chunked", "write deflated", "write several", "write converted"),
    *("write by one", "write apart", "write after read", "write apart after read"),
)
CALLS = {*WRITES, "flush", "extend", "create", "open again"}
READS = ("together", "apart")

# Where it is not so: the call, and how ranks read then. What a rank writes by itself others need
# not see: in each run they do not, or no rank was late.
Less = set[tuple[str, str]]
ALONE: Less = {("write apart", "apart"), ("write apart after read", "apart")}
# HDF5 makes the one by each rank alone, and has no ranks wait for each other after the other.
OF_HDF5 = ALONE | {("write converted", "apart"), ("flush", "apart")}
# In the guides: after H5Fflush, or where ranks read together; where they overlap the rank counts.
OF_LOGS = {(call, "apart") for call in WRITES} | {("write by one", "together")}
# After H5Fflush and a barrier.
OF_STAGING = {(call, reads) for call in WRITES for reads in READS} | {("flush", "apart")}

BELOW = "under_vol=0;under_info={}"
STRIPE = "size=1KiB;files=3;"
OVER_STRIPE = f"under_vol=7214;under_info={{{STRIPE}{BELOW}}}"
STACKS = {
    "native": (NATIVE, OF_HDF5),
    "null": (f"headrace_null seat=both;{BELOW}", OF_HDF5),
    "trace": (f"headrace_trace {BELOW}", OF_HDF5),
    "tune": (f"headrace_tune seat=both;read_once=true;{BELOW}", OF_HDF5),
    "async": (f"headrace_async seat=both;{BELOW}", OF_HDF5),
    "async-mpi": (f"headrace_async seat=both;mpi_staging=true;{BELOW}", OF_STAGING),
    "log": (f"headrace_log {BELOW}", OF_HDF5),
    "log-rank": (f"headrace_log mpi_logs=rank;{BELOW}", OF_LOGS),
    "log-node": (f"headrace_log mpi_logs=node;{BELOW}", OF_LOGS),
    "stripe": (f"headrace_stripe {STRIPE}{BELOW}", ALONE),
    "stripe-rank": (f"headrace_stripe per=rank;{BELOW}", ALONE),
    "stripe-node": (f"headrace_stripe aggregate=node;{STRIPE}{BELOW}", ALONE),
    "async,stripe": (f"headrace_async seat=both;{OVER_STRIPE}", ALONE),
    "async-mpi,stripe": (f"headrace_async seat=both;mpi_staging=true;{OVER_STRIPE}", ALONE),
    "trace,stripe": (f"headrace_trace {OVER_STRIPE}", ALONE),
    "tune,stripe": (f"headrace_tune seat=both;{OVER_STRIPE}", ALONE),
    "log-rank,stripe": (f"headrace_log mpi_logs=rank;{OVER_STRIPE}", OF_LOGS),
}
EACH_DAY = {"tune", "async-mpi", "log-rank", "stripe", "stripe-node", "async,stripe"}


def seen_wrong(hdf5: Hdf5, folder: Path, connector: str, ranks: int, *on: str | Path) -> Less:
    """Where some rank did not read what it should."""
    program = built(f"tests/parallel/what_others_see_{hdf5.mpi}")
    more = {"MPIR_CVAR_NUM_CLIQUES": "2"} if on else {}
    env = env_of(connector, built("lib/plugins"), folder / "report", **more)
    command = [*launch(hdf5, ranks), *on, program, "x.h5", LATE]
    done = run(command, env=env, cwd=folder, limit=60)
    assert done.status == 0, done.text
    told = told_by(done)
    assert {one["call"] for one in told} == CALLS, done.text
    return {(one["call"], reads) for one in told for reads in READS if one[reads] > 0}


@pytest.mark.parametrize(
    ("stack", "ranks"),
    [
        pytest.param(
            stack,
            ranks,
            marks=[]
            if stack in EACH_DAY and ranks == 2 + ("stripe" in stack)
            else pytest.mark.long,
        )
        for stack in STACKS
        for ranks in (2, 3)
    ],
)
def test_what_others_see(hdf5: Hdf5, tmp_path: Path, stack: str, ranks: int) -> None:
    connector, less = STACKS[stack]
    wrong = seen_wrong(hdf5, tmp_path, connector, ranks)
    assert ALONE <= wrong <= less, sorted(wrong - less)


def test_on_nodes(tmp_path: Path) -> None:
    """Pieces that only the ranks of one of two nodes reach."""
    nodes = Nodes(tmp_path)
    connector = f"headrace_stripe local=true;{nodes.dirs}{STRIPE}{BELOW}"
    wrong = seen_wrong(HDF5, tmp_path, connector, 3, ON_NODE, nodes.folder)
    assert wrong == ALONE, sorted(wrong - ALONE)
