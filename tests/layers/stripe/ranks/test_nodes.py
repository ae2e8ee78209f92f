"""Pieces in folders of each node's own, which ranks of other nodes cannot reach."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.nodes import HDF5, Nodes
from harness.prefix import MATRIX, Hdf5
from harness.ranks import start, succeed

from headrace.errors import FileError
from headrace.stripe.sets import find

pytestmark = pytest.mark.sanitized
PROGRAM = "striped_ranks"


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"))


class Programs:
    """With the file x.h5, whose pieces lie on two nodes."""

    def __init__(self, layer: Layer, options: str = "size=5000;files=2;") -> None:
        self.layer, self.options, self.nodes = layer, options, Nodes(layer.folder)

    def connector(self, more: str) -> str:
        dirs = "" if "dirs=" in more else self.nodes.dirs
        return f"headrace_stripe {self.options}{dirs}{more}{self.layer.below}"

    def told(self, case: str, ranks: int, more: str = "local=true;") -> list[dict[str, Any]]:
        words = (PROGRAM, "mpio", case, "x.h5")
        connector = self.connector(more)
        environment = self.nodes.environment
        return succeed(self.layer, HDF5, ranks, *words, connector=connector, **environment)

    def refused(self, ranks: int, more: str = "") -> str:
        """What all ranks are told."""
        (text,) = {one["opened"] for one in self.told("open", ranks, more)}
        return str(text)


def compare(
    names: set[str], file_name: str = "x.h5", again: Collection[str] = ("deflated",)
) -> None:
    want = (1000 * np.arange(50)[:, None] + np.arange(1000)).astype(float)
    with h5py.File(file_name) as file:
        assert names <= set(file)
        for name in file:
            np.testing.assert_array_equal(file[name][()], want + 7 * (name in again), name)


@pytest.mark.parametrize("options", ["size=5000;files=2;", "size=64KiB;", "files=3;size=1000;"])
@pytest.mark.parametrize("more", ["", "aggregate=node;"])
def test_each_node_has_its_own(layer: Layer, options: str, more: str) -> None:
    programs = Programs(layer, options)
    programs.told("write", 4, f"local=true;{more}")
    own = {"size=64KiB;": ("1", "2"), "size=5000;files=2;": ("13", "24")}
    first, second = own.get(options, ("135", "246"))
    assert programs.nodes.pieces() == {"node0": first, "node1": second}
    programs.told("read", 3, more)
    programs.told("append", 3, more)
    programs.told("read", 2)
    assert "lies on node node1, where the program has no rank" in programs.refused(1)
    with pytest.raises(FileError, match="subfiles of it lie on node0, node1, in folders"):
        find(layer.folder / "x.h5")
    programs.told("rewrite", 4, f"fuse=close;{more}")
    assert programs.nodes.pieces() == {"node0": "", "node1": ""}
    assert [path.name for path in layer.folder.glob("x.h5*")] == ["x.h5"]
    layer.plain(partial(compare, {"contiguous", "converted", "later", "several_plain"}))


HEADRACE = Path(sys.executable).with_name("headrace")


def test_fused_by_each_node(layer: Layer) -> None:
    """The last one completes the file; a set that was written to is another one."""
    programs = Programs(layer)
    programs.told("write", 4, "local=true;checksums=true;")
    whole, stub = layer.folder / "whole.h5", layer.folder / "x.h5"

    def fuse(node: int, *words: str | Path) -> str:
        done = programs.nodes.run(node, HEADRACE, "fuse", stub, *words)
        return " ".join((done.stdout + done.stderr).split())

    assert "`headrace fuse --output` on each of them" in fuse(0)
    for _ in range(2):
        assert "made when 2 subfiles of other nodes are there" in fuse(0, "--output", whole)
        assert not whole.exists()
    programs.told("append", 2)
    assert "made when 2 subfiles of other nodes are there" in fuse(1, "--output", whole)
    assert "complete" in fuse(0, "--output", whole, "--verify")
    again = ("contiguous", "deflated")
    layer.plain(partial(compare, {"contiguous", "converted", "later"}, "whole.h5", again))
    piece = programs.nodes.piece(3)
    before = piece.read_bytes()
    piece.write_bytes(before[:-5])
    assert "_3_of_4: this subfile has" in fuse(0, "--output", whole)
    piece.write_bytes(before)
    programs.told("write", 2, "local=true;checksums=true;")
    piece.write_bytes(bytes(len(piece.read_bytes())))
    assert "_3_of_4: its bytes are not those" in fuse(0, "--output", whole)


def test_what_a_file_leaves(layer: Layer) -> None:
    """A file that is made anew or deleted leaves nothing on any node."""
    programs = Programs(layer)
    programs.told("write", 4)
    programs.options = "size=1MiB;"
    programs.told("write", 4)
    assert programs.nodes.pieces() == {"node0": "1", "node1": "2"}
    programs.told("delete", 4)
    assert programs.nodes.pieces() == {"node0": "", "node1": ""}
    assert not list(layer.folder.glob("x.h5*"))
    programs.told("write", 4)
    layer.python("h5py.File('x.h5', 'w').close()", "files=2;")
    assert all(f"node {name} keeps its subfiles" in layer.log for name in ("node0", "node1"))
    assert len(find(layer.folder / "x.h5").subfiles) == 2
    programs.told("write", 2)
    words = (PROGRAM, "mpio", "write", "x.h5")
    connector = f"headrace_stripe size=5000;files=1;per=total;{layer.below}"
    succeed(layer, HDF5, 2, *words, connector=connector, **programs.nodes.environment)
    assert programs.nodes.pieces() == {"node0": "", "node1": ""}
    layer.python("assert f['alone'][49, 7] == 49007".join(["f = h5py.File('x.h5'); ", ""]))


def test_pieces_that_do_not_fit(layer: Layer) -> None:
    programs = Programs(layer)
    programs.told("write", 4, "local=true;checksums=true;")
    state = next(layer.folder.glob("x.h5*.state"))
    lines = state.read_text().splitlines()
    assert lines[1:4] == ["node=node0", "node=node1", "state=closed"]
    assert len([line for line in lines if line.startswith("crc32=")]) == 4
    programs.told("read", 2)
    piece = programs.nodes.piece(4)
    older = piece.read_bytes()
    piece.write_bytes(older[:-1])
    assert re.search(r"_4_of_4: this subfile has \d+ bytes, and had", programs.refused(2))
    piece.unlink()
    assert "_4_of_4: No such file or directory" in programs.refused(2)
    piece.write_bytes(older)
    programs.told("read", 2)
    state.write_text(state.read_text().replace("node=node1", "node=elsewhere"))
    assert "lies on node elsewhere, where the program has no rank" in programs.refused(2)
    # Torn, as when there was no room for it: the nodes are known still.
    state.write_text("headrace_stripe=1\nnode=node0\nnode=node1\nstate=clo")
    programs.told("read", 2)
    assert "was not closed by who wrote it last" in layer.log


def test_nodes_change_places(layer: Layer) -> None:
    """A node is known by its name, not by its ranks."""
    programs = Programs(layer)
    programs.told("write", 4)
    state = next(layer.folder.glob("x.h5*.state"))
    state.write_text(state.read_text().replace("node=node0\nnode=node1", "node=node1\nnode=node0"))
    folder = programs.nodes.folder
    first, second = folder / "node0", folder / "node1"
    first.rename(folder / "other")
    second.rename(first)
    (folder / "other").rename(second)
    programs.told("read", 4)
    programs.told("append", 3)
    programs.told("read", 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("dirs=;local=true;", "local=true needs folders of each node's own"),
        ("dirs=.;local=true;", "local=true needs folders of each node's own"),
        ("dirs=/nowhere/at/all;local=true;", "/nowhere/at/all"),
        ("local=true;fuse=background;", "one process in the background does not reach"),
    ],
)
def test_options_that_do_not_fit(layer: Layer, options: str, message: str) -> None:
    programs = Programs(layer)
    told = programs.told("fail", 2, options)
    assert all(message in each["opened"] for each in told), told


@pytest.mark.parametrize("rank", [0, 1])
def test_a_piece_on_another_node_is_full(layer: Layer, rank: int) -> None:
    """The rank that writes there is told, and by the flush all are."""
    nodes = Nodes(layer.folder)
    fault = f"kind=error;op=write;errno=ENOSPC;file=*subfile*_{rank + 1}_of_2;count=1000000"
    below = f"under_vol=7204;under_info={{{fault};under_vol=0;under_info={{}}}}"
    connector = f"headrace_stripe size=64KiB;local=true;{nodes.dirs}{below}"
    words = (PROGRAM, "mpio", "fail", "x.h5")
    told = succeed(layer, HDF5, 4, *words, connector=connector, **nodes.environment)
    wrote = [each["wrote"] for each in told]
    assert any(f"_{rank + 1}_of_2" in text and f"(on node node{rank})" in text for text in wrote)
    assert all(f"_{rank + 1}_of_2" in each["flushed"] for each in told), told


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
def test_one_node(layer: Layer, hdf5: Hdf5) -> None:
    """Its programs without MPI read the file, too."""
    (layer.folder / "local").mkdir()
    connector = f"headrace_stripe local=true;dirs=local;files=3;size=5000;{layer.below}"
    for case, ranks in (("write", 3), ("append", 2), ("read", 1)):
        succeed(layer, hdf5, ranks, PROGRAM, "mpio", case, "x.h5", connector=connector)
    found = find(layer.folder / "x.h5")
    assert found.state is not None
    assert found.state.nodes == (os.uname().nodename,)
    assert len(list((layer.folder / "local").iterdir())) == 3
    layer.python("assert h5py.File('x.h5')['deflated'][3, 4] == 3011")
    layer.python("h5py.File('x.h5', 'r+')['contiguous'][3, 4] = 5")
    layer.python("assert h5py.File('x.h5')['contiguous'][3, 4] == 5")
    assert find(layer.folder / "x.h5").state == found.state


SUITES = [
    pytest.param("testphdf5", "atomicity calloc bigdset nocolcause extlink", id="testphdf5"),
    *(
        pytest.param(name, "", marks=pytest.mark.long, id=name)
        for name in ("t_shapesame", "t_pmulti_dset", "h5_api_test_parallel")
    ),
]


@pytest.mark.plain
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "but"), SUITES)
def test_suites(layer: Layer, name: str, but: str, ranks: int) -> None:
    """HDF5's own, but for what `stripe` is known for, and files that one rank makes for others."""
    nodes = Nodes(layer.folder)
    if but and ranks > 2:
        but += " rrobjflushconf"  # ranks of one node open the file by themselves
    left_out = [word for one in but.split() for word in ("-x", one)]
    connector = f"headrace_stripe size=4KiB;files=2;local=true;{nodes.dirs}{layer.below}"
    program = str(HDF5.program(f"tests/{name}"))
    words = (program, *left_out)
    done = start(layer, HDF5, ranks, *words, connector=connector, **nodes.environment)
    assert done.status == 0, done.text
    assert "with no errors" in done.text or "0/34 (0.00%) API tests did not pass" in done.text
