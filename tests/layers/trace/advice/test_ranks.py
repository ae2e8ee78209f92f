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
from headrace.trace.analysis.advice import Advice, advise, data, ranks
from headrace.trace.analysis.summary import uses

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


def test_ranks_that_differ_in_what_took_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(subject: str, gain: float) -> Advice:
        return Advice("independent_writes", subject, "e", "c", "", gain, "e", "r", "")

    ranks_of_run = [of("/a", 2), of("/b", 1)], [of("/a", 3), of("/b", 4)], [of("/c", 1)]
    monkeypatch.setattr("headrace.trace.analysis.advice._given", lambda _: ranks_of_run)
    monkeypatch.setattr("headrace.trace.analysis.advice.Run", lambda *_: SimpleNamespace(noise=0))
    monkeypatch.setattr("headrace.trace.analysis.advice.totals", lambda *_: None)
    found = [(each.subject, each.gain) for each in advise(SimpleNamespace(), ())]  # type: ignore[arg-type]
    assert found == [("/b and 1 more", 7), ("/c", 1)]


class Fake:
    """A rank that has written to one file: (begin, duration, bytes) of each request, in µs."""

    def __init__(self, rows: list[tuple[int, int, int]], ranks: int = 2) -> None:
        begin, duration, length = np.array(rows, np.int64).T
        zeros = np.zeros(len(rows), np.int64)
        self.storages = {5: "/data/x.h5"}
        self.process = SimpleNamespace(clock_offset=0, storages={5: {"ranks": ranks}})
        self.requests = {
            "file": zeros + 5, "type": zeros + data.RAW, "kind": zeros + 1, "failed": zeros,
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


class Opener:
    """A process that makes or opens files with one dataset each, from a second to another."""

    def __init__(self, names: list[str], begin: int, end: int, *, created: bool) -> None:
        count = len(names)
        self.process = SimpleNamespace(
            clock_offset=0, about={"command": ["python"], "host": "a"}, lines={}, names={},
            files={i: {"name": n, "level": 0, "created": created} for i, n in enumerate(names)},
            objects={10 + i: {"file": i, "kind": "dataset", "path": "/u"} for i in range(count)},
        )  # fmt: skip
        spread = np.linspace(begin, end, count).astype(np.int64) * 1_000_000_000
        self.calls = {"begin": spread, "duration": np.full(count, 50_000_000),
                      "object": 10 + np.arange(count), "line": np.zeros(count, np.int64),
                      "count": np.ones(count, np.int64)}  # fmt: skip
        self.own = self.calls["duration"] / 1e9
        self.order = np.arange(count)
        self.gaps = np.zeros(count)

    def are(self, names: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.full(len(self.own), "dataset_open" in names or "file_open" in names)


def of_files(*seats: Opener) -> list[str]:
    run = SimpleNamespace(trace=SimpleNamespace(seats=seats))
    found = [*ranks.file_per_rank(run), *ranks.files_alike(run)]  # type: ignore[arg-type]
    assert all("mpio" not in each.code for each in found if each.rule == "files_alike")
    assert all(each.gain == pytest.approx(0.05 * 3) for each in found)
    return [each.rule for each in found]


def test_a_file_for_each_process_is_advised_of_several_alone() -> None:
    def names(first: int, count: int) -> list[str]:
        return [f"{i}.h5" for i in range(first, first + count)]

    one, other = (Opener(names(i, 2), 0, 9, created=True) for i in (0, 2))
    assert of_files(one, other) == ["file_per_rank"]
    later = Opener(names(2, 2), 10, 19, created=True)
    assert of_files(one, later) == [], "they do not run together"
    assert of_files(Opener(names(0, 4), 0, 9, created=True)) == [], "one process, that writes"
    assert of_files(Opener(names(0, 4), 0, 9, created=False)) == ["files_alike"]
    assert of_files(Opener(names(0, 3), 0, 9, created=False)) == [], "there are few"
