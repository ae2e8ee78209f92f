"""Logs on the storage of several nodes, which come beside their file behind the program."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread

import pytest
from harness.layer import Layer
from harness.nodes import HDF5, Nodes
from harness.program import Program, text_of
from harness.ranks import ON_NODE, succeed
from harness.until import until
from layers.log.later.background import (
    HELD,
    Elsewhere,
    check_ordinary,
    processes,
    wait,
    write_and_close,
)
from layers.log.later.background import check as check_there
from layers.log.later.commands import HEADRACE
from layers.log.ranks.kept_by_ranks import FILES, NONE, logs_of, require, require_in_order

pytestmark = pytest.mark.sanitized
# What moves logs, and never comes to it.
KILLED = "#!/bin/sh\nexit 0\n"
LEFT = "left.h5"


class Programs:
    """Two ranks, each on a node of its own, or as many more."""

    def __init__(self, layer: Layer) -> None:
        self.layer, self.nodes = layer, Nodes(layer.folder)

    def run(self, when: str, *words: str, ranks: int = 2, per: str = "rank") -> None:
        place = f"path={self.nodes.folder / 'local'};under_vol=0;under_info={{}}"
        connector = f"headrace_log canonicalise={when};mpi_logs={per};{place}"
        more = self.nodes.environment | {"KEEPS_LOGS": "1", "HEADRACE_LOG_LEVEL": "info"}
        succeed(self.layer, HDF5, ranks, *words, connector=connector, **more)

    def migrate(self, number: int) -> str:
        done = self.nodes.run(
            number, HEADRACE, "cache", "migrate", "--path", self.nodes.folder / "local"
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    def placed(self, number: int) -> list[Path]:
        return list(self.nodes.folder.glob(f"node{number}/headrace-*/logs@node{number}/*"))


@pytest.fixture
def programs(layer: Layer) -> Programs:
    return Programs(layer)


def are_beside(layer: Layer, *names: str) -> bool:
    logs = [log for name in names for log in logs_of(layer, name)]
    return bool(logs) and not any(log.is_symlink() for log in logs)


@pytest.mark.parametrize("per", ["rank", "node"])
def test_behind_the_program(programs: Programs, per: str) -> None:
    layer = programs.layer
    programs.run("background", "mpi_logs", "unflushed", ranks=4, per=per)
    wait(layer, LEFT)
    assert layer.log.count(f"/{LEFT} is in order") == 1, layer.log
    assert not [*programs.placed(0), *programs.placed(1)]
    require(layer, (LEFT,), marked=False)


def test_of_random_programs(programs: Programs) -> None:
    """Which flush, cut datasets and read together: what they have logged must be there for all."""
    programs.run("background", "mpi_logs", "write", "1", ranks=4)
    wait(programs.layer, *FILES)
    require_in_order(programs.layer, *FILES)


@pytest.mark.parametrize("when", ["background", "later"])
def test_opened_again_at_once(programs: Programs, when: str) -> None:
    """By all ranks, which find what the others have written, for reading and writing."""
    layer = programs.layer
    programs.run(when, "mpi_kept", "again", "x.h5", ranks=3)
    until(lambda: not processes(layer))
    if when == "later":
        assert are_beside(layer, "x.h5")
        layer.python("f = h5py.File('x.h5'); assert set(f['d'][:].tolist()) == {4}")
        layer.python("h5py.File('x.h5', 'r+').close()")
    text = "f = h5py.File('x.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{4}"


def test_later_they_are_beside_the_file(programs: Programs) -> None:
    """One process on any node finds all, as if they had been there from the beginning."""
    layer = programs.layer
    programs.run("later", "mpi_logs", "unflushed")
    until(lambda: are_beside(layer, LEFT) and not processes(layer))
    assert [log.name[32:] for log in logs_of(layer, LEFT)] == [".n0.log", ".n1.log"]
    assert not [*programs.placed(0), *programs.placed(1)]
    require(layer, (LEFT,), marked=True)
    layer.python(f"h5py.File('{LEFT}', 'r+').close()")
    require_in_order(layer, LEFT)


@pytest.mark.parametrize("mode", ["read", "open"])
def test_who_opens_it_meanwhile_waits(tmp_path: Path, mode: str) -> None:
    """On whichever node, and for reading, too: there is no other way to the data."""
    layer = Elsewhere(tmp_path, "log")
    layer.install(HELD)
    Programs(layer).run("background", "mpi_logs", "unflushed")

    with going_on_when_awaited(layer):
        succeed(layer, HDF5, 3, "mpi_kept", mode, LEFT, connector=NONE, HEADRACE_LOG_LEVEL="info",
                KEEPS_LOGS="1")  # fmt: skip
    wait(layer, LEFT)
    require_in_order(layer, LEFT)


@contextmanager
def going_on_when_awaited(layer: Layer) -> Iterator[None]:
    def begin() -> None:
        try:
            until(lambda: "waiting for the process that brings log" in layer.log)
        finally:
            (layer.folder / "go").touch()

    thread = Thread(target=begin)
    thread.start()
    yield
    thread.join()


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_file_of_one_process_opened_on_another_node(tmp_path: Path, mode: str) -> None:
    """Its log is put in order on its own node; whoever cannot see that waits for it."""
    layer = Elsewhere(tmp_path, "log")
    layer.install(HELD)
    nodes = Nodes(tmp_path)

    def on_node(number: int, program: Program) -> None:
        words = [*map(str, (ON_NODE, nodes.folder, sys.executable, "-c")), text_of(program)]
        options = f"canonicalise=background;path={nodes.folder / 'local'};"
        done = layer.command(words, options, PMI_RANK=str(number))
        assert done.status == 0, done.text

    on_node(0, write_and_close)
    with going_on_when_awaited(layer):
        on_node(1, partial(check_there, mode=mode))
    wait(layer, "x.h5")
    layer.plain(check_ordinary)


@pytest.fixture
def stuck(tmp_path: Path) -> Programs:
    """Nobody moves the logs of these programs."""
    elsewhere = Elsewhere(tmp_path, "log")
    elsewhere.install(KILLED)
    return Programs(elsewhere)


def test_migrate_on_all_nodes(stuck: Programs) -> None:
    """In any order; until then the file is refused, and the node named that has more of it."""
    stuck.run("background", "mpi_logs", "unflushed")
    assert all(len(stuck.placed(number)) == 2 for number in (0, 1)), "a log and what it is of"
    assert "more of it is on node0" in stuck.migrate(1)
    assert not stuck.placed(1)
    told = stuck.nodes.run(1, HEADRACE, "replay", stuck.layer.folder / LEFT)
    assert told.returncode != 0
    assert "node0" in told.stderr
    done = stuck.layer.start(f"h5py.File('{LEFT}')")
    assert done.status != 0
    assert "on the storage of node node0" in done.text
    assert "has all that was in its log" in stuck.migrate(0)
    require_in_order(stuck.layer, LEFT)


def test_a_move_that_was_killed(stuck: Programs) -> None:
    """What it has left of the copy is in nobody's way."""
    stuck.run("background", "mpi_logs", "unflushed")
    for log in logs_of(stuck.layer, LEFT):
        log.with_name(log.name + ".part").write_bytes(b"\1" * 5_000_000)
    stuck.migrate(0)
    stuck.migrate(1)
    require_in_order(stuck.layer, LEFT)


def test_a_flush_that_cannot_move_a_log_leaves_all(programs: Programs) -> None:
    """All ranks are told, and what they had logged is there for a recovery."""
    programs.run("background", "mpi_logs", "unmoved")
    (blocking,) = programs.layer.folder.glob("left.h5.headrace/*.n1.log.part")
    blocking.rmdir()
    done = programs.nodes.run(1, HEADRACE, "recover", programs.layer.folder / LEFT)
    assert done.returncode == 0, done.stderr
    require_in_order(programs.layer, LEFT)


def test_what_was_moved_and_not_removed(programs: Programs) -> None:
    """By who was killed in between: it goes, and the log beside the file stays."""
    layer = programs.layer
    programs.run("later", "mpi_logs", "unflushed")
    until(lambda: are_beside(layer, LEFT) and not processes(layer))
    for number, log in enumerate(logs_of(layer, LEFT)):
        (folder,) = programs.nodes.folder.glob(f"node{number}/headrace-*/logs@node{number}")
        shutil.copy(log, folder / log.name)
        (folder / log.with_suffix(".file").name).symlink_to(layer.folder / LEFT)
        programs.migrate(number)
        assert not programs.placed(number)
    require(layer, (LEFT,), marked=True)


@pytest.mark.parametrize("nodes", [(1,), (0, 1)])
def test_without_a_place(programs: Programs, nodes: tuple[int, ...]) -> None:
    """A node's log is beside the file from the beginning; others come."""
    for number in nodes:
        folder = programs.nodes.folder / f"node{number}/headrace-{os.geteuid()}"
        folder.write_text("no folder")
    programs.run("background", "mpi_logs", "unflushed")
    wait(programs.layer, LEFT)
    assert "no log is in" in programs.layer.log
    require_in_order(programs.layer, LEFT)
