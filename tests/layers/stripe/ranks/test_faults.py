"""One rank's storage fails at one call: no rank waits for ever, and no promise is broken."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import pytest
from harness.layer import Layer
from harness.nodes import HDF5, Nodes
from harness.prefix import Hdf5
from harness.ranks import succeed
from harness.seed import of_the_day

from headrace.stripe.fuse import fuse
from headrace.stripe.sets import find

RANKS = 3
HITS = (1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 27, 37, 50)
FAULTS = {
    "write": "kind=error;op=write;errno=ENOSPC",
    "all later writes": "kind=error;op=write;errno=ENOSPC;count=0",
    "part of a write": "kind=short;op=write;part=30",
    "truncate": "kind=error;op=truncate",
    "flush": "kind=error;op=flush",
    "open": "kind=error;op=open;errno=EMFILE",
    "close": "kind=error;op=close;file=*subfile*",  # the stub's has nothing to lose
    "read": "kind=error;op=read",
}


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"))


def check(names: list[str], promised: list[int]) -> None:
    """Each element is of the last write that was promised to its rank, or of a later one."""
    with h5py.File("whole.h5") as file:
        for name in names:
            found = file[name][()].reshape(-1, RANKS)
            for rank, last in enumerate(promised):
                assert (found[:, rank] >= last).all(), (name, rank, last, found[:, rank])
                assert (found[:, rank] <= 6).all(), name


def journal(layer: Layer) -> list[dict[str, Any]]:
    path = layer.folder / "journal"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


def try_calls(layer: Layer, hdf5: Hdf5, fault: str, options: str, nodes: Nodes | None) -> None:
    hits = 0
    words = ("striped_faults", "x.h5", "together")
    stub = layer.folder / "x.h5"
    for first in sorted({1, *of_the_day(HITS, 3)}):
        plan = f"{fault};first={first};journal=journal"
        plan += "" if "file=" in plan else ";file=x.h5*"
        below = f"under_vol=7204;under_info={{{plan};under_vol=0;under_info={{}}}}"
        connector = f"headrace_stripe size=512;files=4;sync=true;{options}{below}"
        environment = nodes.environment if nodes is not None else {}
        told = succeed(layer, hdf5, RANKS, *words, connector=connector, **environment)
        hits += len(journal(layer))
        # A rank that cannot read is told so alone.
        assert len({re.sub("[rf]", "", one["results"]) for one in told}) == 1, (first, told)
        promised = [one["promised"] for one in told]
        if any(promised):
            if nodes is not None:
                nodes.bring_home(stub)
            fuse(find(stub), layer.folder / "whole.h5", lambda _: None, verify=False)
            whole = ["plain"] if told[0]["damaged"] else ["plain", "deflated"]
            layer.plain(partial(check, whole, promised))
        # On the nodes as well, where the next file's subfiles may have other names.
        for path in layer.folder.rglob("*.h5*"):
            path.unlink()
    assert hits > 0, "no such call was made"


@pytest.mark.share(8)
@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
@pytest.mark.parametrize("failing", FAULTS)
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("aggregate", ["none", "node"])
def test_one_call_fails(layer: Layer, hdf5: Hdf5, failing: str, rank: int, aggregate: str) -> None:
    fault = f"{FAULTS[failing]};rank={rank}"
    try_calls(layer, hdf5, fault, f"aggregate={aggregate};", None)


@pytest.mark.share(4)
@pytest.mark.parametrize("failing", FAULTS)
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_one_call_fails_on_a_node(layer: Layer, failing: str, rank: int) -> None:
    """What ranks 0 and 1 do for those of the other node counts as theirs."""
    nodes = Nodes(layer.folder)
    fault = f"{FAULTS[failing]};rank={rank}"
    try_calls(layer, HDF5, fault, f"local=true;{nodes.dirs}", nodes)
