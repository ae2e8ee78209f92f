"""Replays of ranks: each makes the calls of one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from harness.prefix import Hdf5
from harness.ranks import run_kernel
from layers.trace.ranks.conftest import told_by
from layers.trace.replay.conftest import Recorded

from headrace.errors import FileError
from headrace.trace.model.reader import read
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.run import Replay, differences, replay

EACH = """
import h5py
with h5py.File(f"{rank}.h5", "w") as file:
    for i in range(rank + 2):
        file[str(i)] = range(100)
"""
BOTH = pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)


def replayed(hdf5: Hdf5, trace: Path, stack: str = "native", ranks: int = 0) -> Replay:
    choices = Choices(limit=100, ranks=ranks, mpiexec=tuple(map(str, hdf5.mpiexec)))
    return replay(trace, stack, trace.parent / f"under-{stack}-{ranks}", choices)


def vpic(hdf5: Hdf5, folder: Path, ranks: int, case: str) -> Path:
    """Of headrace-bench, with what its calls were given."""
    sizes = ("--particles", "16Ki", "--slow-particles", "1Ki", "--timesteps", "2")
    traced = folder / "traced"
    connector = f"headrace_trace output={traced};arguments=true;under_vol=0;under_info={{}}"
    run_kernel(hdf5, folder, ranks, connector, case, "vpic", *sizes)
    assert len(read(traced).processes) == ranks
    return traced


CASES = pytest.mark.parametrize("case", ["strided-independent", "contiguous-collective"])


@pytest.mark.share(1)
@BOTH
@CASES
def test_each_rank_makes_its_requests(hdf5: Hdf5, tmp_path: Path, case: str) -> None:
    trace = vpic(hdf5, tmp_path, 2, case)
    native = replayed(hdf5, trace)
    assert native.likeness.exact
    assert native.likeness.requests > 100
    assert not native.likeness.calls
    assert not native.left_out
    for stack in ("async", "log"):
        other = replayed(hdf5, trace, stack)
        assert not other.likeness.calls
        assert not differences(native, other)


@pytest.mark.share(1)
@BOTH
@CASES
def test_fewer_ranks_write_the_same(hdf5: Hdf5, tmp_path: Path, case: str) -> None:
    trace = vpic(hdf5, tmp_path, 4, case)
    native = replayed(hdf5, trace)
    assert native.likeness.exact
    for ranks in (3, 1):
        fewer = replayed(hdf5, trace, ranks=ranks)
        assert not differences(native, fewer)
        assert not fewer.left_out
        assert fewer.likeness.calls["file_create"] == ranks - 4
        if ranks == 1 or case == "strided-independent":
            assert fewer.likeness.equal == fewer.likeness.replayed, "each is one of the program's"
            assert fewer.likeness.calls.keys().isdisjoint({"dataset_write", "dataset_read"})
    with pytest.raises(FileError, match="4 processes were recorded, and 5 cannot replay them"):
        replayed(hdf5, trace, ranks=5)


@BOTH
@pytest.mark.long
def test_a_rank_with_less_takes_part_in_all_that_others_do(hdf5: Hdf5, tmp_path: Path) -> None:
    """Transfers of several datasets, of chunks with filters, broken and empty ones."""
    told_by(hdf5, tmp_path, 3, "arguments=true;")
    trace = tmp_path / "traced"
    native, fewer = replayed(hdf5, trace), replayed(hdf5, trace, ranks=2)
    assert native.likeness.alike == native.likeness.requests
    assert not differences(native, fewer)
    assert not fewer.left_out


FAILS_ON_RANK_1 = """
import os
if (os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK")) == "1":
    from headrace.trace.replay.player import Player
    make, made = Player.make, []
    def fails(self, step):
        made.append(step)
        if len(made) == 20:
            raise RuntimeError("it cannot go on")
        make(self, step)
    Player.make = fails
"""


@BOTH
def test_a_rank_that_fails_ends_the_others(
    hdf5: Hdf5, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = vpic(hdf5, tmp_path, 2, "contiguous-collective")
    (tmp_path / "sitecustomize.py").write_text(FAILS_ON_RANK_1)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    began = time.monotonic()
    with pytest.raises(FileError, match=r"rank 1: RuntimeError: it cannot go on"):
        replayed(hdf5, trace)
    assert time.monotonic() - began < 60


@BOTH
def test_a_damaged_trace_is_refused(hdf5: Hdf5, tmp_path: Path) -> None:
    trace = vpic(hdf5, tmp_path, 2, "contiguous-collective")
    source = read(trace).processes[1].source
    source.write_bytes(source.read_bytes()[:-1])
    with pytest.raises(FileError, match=r"not all that ranks did together"):
        replayed(hdf5, trace)


def a_file_each() -> None:
    for rank in range(3):
        if os.fork() == 0:
            words = [sys.executable, "-c", f"rank = {rank}\n{EACH}"]
            os.execv(sys.executable, words)
    assert all(os.wait()[1] == 0 for _ in range(3))


def test_processes_that_share_no_file(layer: Recorded) -> None:
    layer.record(a_file_each)
    native = layer.replayed()
    assert native.likeness.exact
    assert len(native.files) == 3
    few = replay(layer.folder / "traced", "native", layer.folder / "few", Choices(ranks=2))
    assert not few.likeness.calls
    assert not differences(native, few)
