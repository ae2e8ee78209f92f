"""Hazards of traces that are made up, call by call."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace.trace
from headrace.trace import Process
from headrace.trace.analysis.hazards import RAW, WAR, WAW, Hazards, find, verdicts
from headrace.trace.model.facts import CALLS, REQUESTS
from headrace.trace.views import report, terminal

CALLBACKS = (
    "dataset_read", "dataset_write", "file_specific", "file_close",
    "attr_read", "attr_write", "link_specific", "dataset_specific",
)  # fmt: skip
READ, WRITE, FLUSH, CLOSE, ATTR_READ, ATTR_WRITE, DELETE, RESIZE = range(8)
ON_THE_DATASET = (READ, WRITE, ATTR_READ, ATTR_WRITE, RESIZE)


@dataclass
class Made:
    """Calls one after the other, each by a rank and 10 ns long; 100 ns later comes the next."""

    ranks: int
    dims: tuple[int, ...] = (100,)
    parallel: bool = True
    now: int = 1000
    rows: list[dict[str, int]] = field(default_factory=list)
    shapes: dict[int, dict[str, Any]] = field(default_factory=dict)
    arguments: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)

    def call(self, rank: int, callback: int, *, at: int | None = None, **more: int) -> None:
        self.now += 100
        begin = self.now if at is None else at
        more = {"duration": 10, "object": 3 if callback in ON_THE_DATASET else 2} | more
        self.rows.append({"rank": rank, "callback": callback, "begin": begin} | more)

    def moves(
        self, rank: int, callback: int, part: slice, kind: str = "hyperslab", **more: int
    ) -> None:
        """Of a dataset of one dimension."""
        start, end, step = part.indices(self.dims[0])
        elements = len(range(start, end, step))
        sides = {"count": [elements], "stride": [step], "block": [1]}
        if step == 1:
            sides = {"count": [1], "stride": [elements], "block": [elements]}
        if kind != "hyperslab":
            sides = {"block": [end - start]}
        fact = {"kind": kind, "dims": list(self.dims), "elements": elements, **sides}
        id_ = next((i for i, each in self.shapes.items() if each == fact), len(self.shapes) + 1)
        self.shapes[id_] = fact
        self.call(rank, callback, file_shape=id_, file_start=start, line=rank + 1, **more)

    def attribute(self, rank: int, callback: int, **more: int) -> None:
        self.call(rank, callback, name=7, line=rank + 1, **more)

    def given(self, rank: int, fact: dict[str, Any]) -> None:
        """What the trace has of the arguments of the rank's latest call."""
        number = sum(each["rank"] == rank for each in self.rows)
        self.arguments[rank, number] = fact

    def flush(self, callback: int = FLUSH) -> None:
        for rank in range(self.ranks):
            self.call(rank, callback)

    @property
    def trace(self) -> headrace.trace.Trace:
        return headrace.trace.Trace(Path("made"), [self._process(i) for i in range(self.ranks)])

    def _process(self, rank: int) -> Process:
        file = {"name": "x.h5", "level": 0, "parallel": self.parallel, "call": 1}
        storage = {"name": "x.h5", "level": 0, "rank": rank, "ranks": self.ranks}
        mine = [each for each in self.rows if each["rank"] == rank]
        calls = {
            name: np.array([each.get(name, int(name == "count")) for each in mine], np.int64)
            for name in CALLS
        }
        calls["number"] = np.arange(1, len(mine) + 1)
        return Process(
            Path(f"vm.{rank}.trace"),
            about={"host": "vm", "pid": rank, "time": 10**18 + 7 * rank, "monotonic": 0},
            objects={
                2: {"file": 1, "kind": "file", "path": "/"},
                3: {"file": 1, "kind": "dataset", "path": "/u"},
            },
            files={1: file},
            storages={1: storage},
            shapes=self.shapes,
            names={7: {"name": 7, "is": "unit"}},
            arguments={n: fact for (of, n), fact in self.arguments.items() if of == rank},
            lines={i + 1: {"source": "sim.py", "at": 10 + i} for i in range(self.ranks)},
            callbacks=CALLBACKS,
            calls=calls,
            requests={name: np.empty(0, np.int64) for name in REQUESTS},
        )


def kinds(found: Hazards) -> set[str]:
    return {each.kind for each in found}


def safe(found: Hazards) -> list[bool | None]:
    return [each.safe for each in verdicts(found)]


@pytest.mark.parametrize(
    ("first", "second", "kind"), [(WRITE, READ, RAW), (READ, WRITE, WAR), (WRITE, WRITE, WAW)]
)
def test_each_kind_by_the_order_of_calls(first: int, second: int, kind: str) -> None:
    made = Made(2)
    made.moves(0, first, np.s_[0:10])
    made.moves(1, second, np.s_[5:20])
    found = find(made.trace)
    (only,) = found
    assert (only.kind, only.file, only.path, only.elements) == (kind, "x.h5", "/u", "5:10")
    assert (only.ranks, only.lines) == ((0, 1), ("sim.py:10", "sim.py:11"))
    assert (only.certain, only.together, only.cases) == (True, False, 1)
    assert safe(found) == [kind == WAR] * 2


@pytest.mark.parametrize("end", [FLUSH, CLOSE])
def test_a_flush_or_close_by_all_parts_them(end: int) -> None:
    made = Made(3)
    made.moves(0, WRITE, np.s_[0:10])
    made.flush(end)
    made.moves(1, READ, np.s_[0:10])
    made.moves(2, READ, np.s_[0:10])
    assert len(find(made.trace)) == 0
    made.moves(2, WRITE, np.s_[9:11])
    assert kinds(find(made.trace)) == {WAR}


def test_a_rank_that_does_not_wait_for_the_flush_of_all() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    made.call(1, FLUSH)
    made.moves(1, READ, np.s_[0:10])
    made.call(0, FLUSH)
    (only,) = find(made.trace)
    assert (only.kind, only.flushed, only.mpi_staging, only.mpi_logs) == (RAW, True, True, False)


def test_collective_reads_put_logs_in_order() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    made.moves(0, READ, np.s_[90:91], collective=1)
    made.moves(1, READ, np.s_[0:10], collective=1)
    assert safe(find(made.trace)) == [False, True]
    made.moves(0, WRITE, np.s_[0:10])
    made.moves(1, READ, np.s_[0:10])
    assert safe(find(made.trace)) == [False, False]


def test_interleaved_and_touching_selections_have_none() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:40:2])
    made.moves(1, WRITE, np.s_[1:40:2])
    made.moves(0, WRITE, np.s_[40:50])
    made.moves(1, WRITE, np.s_[50:60])
    assert len(find(made.trace)) == 0
    assert safe(find(made.trace)) == [True, True]
    made.moves(1, READ, np.s_[0:40:4])
    (only,) = find(made.trace)
    assert (only.kind, only.elements) == (RAW, "0:37:4")


@pytest.mark.parametrize("kind", ["union", "points"])
def test_of_lists_only_the_box_is_known(kind: str) -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10], kind)
    made.moves(1, READ, np.s_[9:20])
    found = find(made.trace)
    assert [each.certain for each in found] == [False]
    assert safe(found) == [None, None]
    assert "rank 1 perhaps reads /u[9] of x.h5" in verdicts(found)[0].text


def test_what_is_not_known_is_told() -> None:
    made = Made(2)
    made.call(0, WRITE)
    found = find(made.trace)
    assert (found.unknown, safe(found)) == (1, [None, None])
    half = made.trace
    half.processes.pop()
    assert find(half).missing == 1


def test_failed_calls_and_serial_files_have_none() -> None:
    for made, failed in ((Made(2), 1), (Made(2, parallel=False), 0)):
        made.moves(0, WRITE, np.s_[0:10], failed=failed)
        made.moves(1, WRITE, np.s_[0:10])
        assert len(find(made.trace)) == 0


def test_scalars_meet_and_nothing_does_not() -> None:
    made = Made(2, dims=())
    made.shapes |= {1: {"kind": "all", "dims": [], "elements": 1},
                    2: {"kind": "none", "dims": [], "elements": 0}}  # fmt: skip
    made.call(0, WRITE, file_shape=1)
    made.call(1, WRITE, file_shape=2)
    assert len(find(made.trace)) == 0
    made.call(1, WRITE, file_shape=1)
    assert kinds(find(made.trace)) == {WAW}


def test_the_summary_tells_where_files_are_parallel() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    made.moves(1, READ, np.s_[0:1])
    told = "\n".join(terminal.lines(made.trace))
    assert (
        "mpi_staging is not safe: rank 1 reads /u[0] of x.h5 (sim.py:11) after rank 0 wrote it "
        "(sim.py:10)" in told
    )
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    (told,) = [each for each in terminal.lines(made.trace) if "mpi_" in each]
    assert told.startswith("mpi_staging and mpi_logs are safe for what this run did: no rank reads")
    made.call(1, WRITE)
    (told,) = [each for each in terminal.lines(made.trace) if "mpi_" in each]
    assert told.startswith("mpi_staging and mpi_logs: no hazard was found, but the elements of 1")
    made.parallel = False
    assert "mpi_staging" not in "\n".join(terminal.lines(made.trace))


def test_attributes_that_some_ranks_write() -> None:
    made = Made(2)
    made.attribute(0, ATTR_WRITE)
    made.attribute(1, ATTR_READ)
    found = find(made.trace)
    (only,) = found
    assert (only.kind, only.path, only.attribute, only.ranks) == (RAW, "/u", "unit", (0, 1))
    assert (only.mpi_staging, only.mpi_logs, safe(found)) == (False, False, [True, True])
    told = (
        "Not all ranks write an attribute, as HDF5 wants them to: rank 1 reads the attribute unit "
        "of /u of x.h5 (sim.py:11) after rank 0 wrote it (sim.py:10)."
    )
    assert told in terminal.lines(made.trace)
    page = report.render(made.trace)
    assert told in page
    assert '<td data-label="unsafe with">neither</td>' in page


def test_attributes_that_all_ranks_write_together() -> None:
    made = Made(3)
    for rank in range(3):
        made.attribute(rank, ATTR_WRITE)
    made.attribute(1, ATTR_READ)
    assert len(find(made.trace)) == 0
    made.attribute(0, ATTR_WRITE)
    made.attribute(2, ATTR_WRITE)
    assert kinds(find(made.trace)) == {WAR, WAW}


def test_a_flush_parts_attributes_too() -> None:
    made = Made(2)
    made.attribute(0, ATTR_WRITE)
    made.flush()
    made.attribute(1, ATTR_READ)
    assert len(find(made.trace)) == 0


def test_of_sums_attributes_are_not_told() -> None:
    made = Made(2)
    made.attribute(0, ATTR_WRITE, count=5)
    made.attribute(1, ATTR_READ)
    assert len(find(made.trace)) == 0


@pytest.mark.parametrize("name", ["u", "/u"])
def test_a_dataset_that_is_deleted_while_another_rank_uses_it(name: str) -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    for rank in range(2):
        made.call(rank, DELETE, line=rank + 1)
        made.given(rank, {"given": [[2, 0], {"of": 1, "name": name}, {}]})
    found = find(made.trace)
    (only,) = found
    assert (only.kind, only.ranks, only.certain) == ("deletion after write", (0, 1), True)
    assert safe(found) == [False, True]
    assert "rank 1 deletes /u[0:10] of x.h5 (sim.py:11) after rank 0 wrote" in (
        verdicts(found)[0].text
    )
    made.moves(0, READ, np.s_[0:10])
    assert kinds(find(made.trace)) == {"deletion after write", "read after deletion"}


def test_a_deletion_of_something_else_and_one_after_a_flush() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    made.call(1, DELETE)
    made.given(1, {"given": [[2, 0], {"of": 1, "name": "unlike"}, {}]})
    made.flush()
    made.call(1, DELETE)
    made.given(1, {"given": [[2, 0], {"of": 1, "name": "/u"}, {}]})
    assert len(find(made.trace)) == 0


def test_a_deletion_of_a_name_that_is_not_known() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    made.call(1, DELETE)
    (only,) = find(made.trace)
    assert (only.kind, only.certain) == ("deletion after write", False)
    made.moves(1, READ, np.s_[50:60])
    assert len(find(made.trace)) == 0, "it is still there"


def shrunk(told: bool, first: slice) -> set[str]:
    """Hazards of a rank's write and another's H5Dset_extent to 40."""
    made = Made(2)
    made.moves(1, READ, np.s_[90:100])
    made.moves(0, WRITE, first)
    made.call(1, RESIZE)
    if told:
        made.given(1, {"extent": [40]})
    else:
        made.dims = (40,)
        made.moves(1, READ, np.s_[0:1])
    return kinds(find(made.trace))


@pytest.mark.parametrize("told", [True, False])
def test_elements_that_are_cut_off_while_another_rank_uses_them(told: bool) -> None:
    assert shrunk(told, np.s_[39:50]) == {"cut after write"}
    assert shrunk(told, np.s_[30:40]) == set()


def test_a_million_calls_of_a_thousand_ranks() -> None:
    """Each rank has a column of each row in turn; one reads its neighbour's."""
    ranks, calls = 1000, 1000
    made = Made(ranks, dims=(calls * ranks,))
    made.moves(0, WRITE, np.s_[0:1])
    made.moves(1, READ, np.s_[0:1])
    trace = made.trace
    for rank, process in enumerate(trace.processes):
        times = np.arange(calls, dtype=np.int64) * 1000 + rank
        many = {name: np.zeros(calls, np.int64) for name in CALLS}
        many |= {"begin": times + 10**6, "number": np.arange(calls) + 10, "object": times * 0 + 3,
                 "callback": times * 0 + WRITE, "count": times * 0 + 1,
                 "file_shape": times * 0 + 1, "file_start": times}  # fmt: skip
        old = process.calls
        process.calls = {name: np.concatenate([old[name], many[name]]) for name in CALLS}
    begin = time.process_time()
    found = find(trace)
    assert time.process_time() - begin < 60
    assert sorted((each.kind, each.ranks, each.elements) for each in found)[0] == (RAW, (0, 1), "0")
    assert kinds(found) == {RAW, WAR}


def test_the_report_has_a_table_of_them() -> None:
    made = Made(2)
    made.moves(0, WRITE, np.s_[0:10])
    assert "Ranks that touch" in report.render(made.trace)
    made.moves(1, READ, np.s_[0:1])
    page = report.render(made.trace)
    case = "rank 1 reads /u[0] of x.h5 (sim.py:11) after rank 0 wrote it (sim.py:10)"
    shown = f'<td class="line" data-label="first case"><bdi>{case}</bdi></td>'
    assert f'<td data-label="what">read after write</td>{shown}' in page
    assert '<td data-label="unsafe with">mpi_staging, mpi_logs</td>' in page
    made.parallel = False
    assert "Ranks that touch" not in report.render(made.trace)
