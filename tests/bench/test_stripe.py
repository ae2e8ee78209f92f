"""The benchmark of the layer stripe runs, and is about what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from harness.nodes import Nodes
from harness.stack import CLEAN

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.common.evidence import RunError  # noqa: E402
from bench.stripe import claims, fuse, model  # noqa: E402
from bench.stripe.cases import on_disks_of_nodes, ours, subfiling  # noqa: E402

from headrace.stripe.configuration import Layout  # noqa: E402


@pytest.mark.long
def test_it_runs(tmp_path: Path) -> None:
    only = ("ior-2-ranks/independent-1MiB", "fuse/256MiB-1MiB")
    done = subprocess.run(
        [sys.executable, ROOT / "bench/stripe/run.py", "--repeats", "1", "--dir", tmp_path,
         "--output", tmp_path / "out", "--only", *only],
        env=CLEAN, check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out/results.json").read_text())
    assert [each for each in found["samples"] if "error" in each] == []
    taken = {(each["kernel"], each["stack"]) for each in found["samples"]}
    ways = ("native", ours("1MiB").name, subfiling("1MiB").name)
    assert taken == {*(("ior-2-ranks", way) for way in ways), *(("fuse", way) for way in ways[:2])}
    page = (tmp_path / "out/README.md").read_text()
    assert "over HDF5's subfiling" in page
    assert not list(tmp_path.glob("bench-stripe-*"))


def test_disks_of_nodes(tmp_path: Path) -> None:
    Nodes(tmp_path)
    done = subprocess.run(
        [sys.executable, ROOT / "bench/stripe/run.py", "--repeats", "1", "--dir", tmp_path,
         "--output", tmp_path / "out", "--only", "ior-2-ranks-2-nodes/independent-1MiB"],
        env=CLEAN, check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out/results.json").read_text())["samples"]
    ways = {"native", ours("1MiB").name, on_disks_of_nodes("1MiB").name}
    assert {each["stack"] for each in found if "error" not in each} == ways, found
    assert on_disks_of_nodes("1MiB").name in (tmp_path / "out/README.md").read_text()


def test_claims_of_a_peer_are_not_those_of_one_file() -> None:
    made = [{"kernel": "ior-2-ranks", "case": f"independent-{stripe}", "stack": stack, "repeat": 0,
             "write_wall": wall, "read_wall": 1.0, "baseline": {"write": 2.0}}
            for stripe, mine in (("1MiB", 1.0), ("4MiB", 1.5))
            for stack, wall in (("native", 3.0), (claims.OURS, mine), (claims.PEER, 6.0))
            ]  # fmt: skip
    found = {(each.claim, each.case.rpartition("-")[2]): each for each in claims.judge(made)}
    assert found["times as fast writes ≥ 1x", "1MiB"].median == 3
    assert found["times as fast writes ≥ 3x, over HDF5's subfiling", "4MiB"].median == 4
    (flat,) = (each for (claim, _), each in found.items() if "slowest by fastest" in claim)
    assert flat.median == 1.5
    assert not flat.met


def test_another_file_is_an_error(tmp_path: Path) -> None:
    made = fuse.make(tmp_path, 1 << 20)
    with made.subfiles[0].open("r+b") as piece:
        piece.seek(5 << 20)
        piece.write(b"something else")
    with pytest.raises(RunError, match="not the one that was split"):
        fuse.fused(made, tmp_path)


@pytest.mark.parametrize("pattern", model.PATTERNS, ids=lambda each: each.name)
@pytest.mark.parametrize("layout", [Layout(1 << 20, 4), Layout(32 << 20, 16), Layout(5000, 3)])
def test_modelled_requests_are_all_of_the_file(pattern: model.Pattern, layout: Layout) -> None:
    """Each subfile has what it would have of the file that the ranks write, once."""
    written: dict[int, list[tuple[int, int]]] = defaultdict(list)
    asked = [] if layout.stripe == 5000 else list(model.requests(pattern))
    asked = asked or [each for each in model.requests(pattern) if each[1] < 8 << 20]
    whole = max(offset + length for _, offset, length in asked)
    for _, offset, length in asked:
        for number, at, size in model.in_pieces(layout, offset, length):
            written[number].append((at, size))
    for number in range(layout.count):
        ends = 0
        for at, size in sorted(written[number]):
            assert at == ends, "no gap, nothing twice"
            ends = at + size
        assert ends == layout.piece_size(number, whole)
