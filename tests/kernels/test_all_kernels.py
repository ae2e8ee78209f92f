"""Every kernel under a layer: written through it, then read by an HDF5 that has none loaded."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from harness.prefix import ROOT
from harness.seed import LONG
from kernels.bench_tool import SERIAL, Bench

from headrace import plan

ROWS = (ROOT / "tools/bench/kernels.def").read_text(encoding="utf-8")
KERNELS = re.findall(r"^HEADRACE_KERNEL\((\w+),", ROWS, re.MULTILINE)
SERIAL_ONLY = {"files", "h5py"}
RUNS = [(kernel, 0) for kernel in KERNELS] + [(k, 2) for k in KERNELS if k not in SERIAL_ONLY]
E3SM = ROOT.parent / "shared/data/e3sm"
# What they leave under other stacks: test_same_files.py.
STACKS = [
    "async",
    *(pytest.param(stack, marks=pytest.mark.long) for stack in ("null", "null(seat=vol)")),
]


def under(bench: Bench, stack: str) -> Bench:
    """The same with the variables that `headrace run --stack` sets, and with a report."""
    variables = plan.prepare(stack, None, {"HDF5_PLUGIN_PATH": ""}).assign
    report = {"HEADRACE_REPORT": str(bench.folder / "report.jsonl")}
    return dataclasses.replace(bench, environ={**variables, **report})


def options(kernel: str) -> list[str]:
    # Without the cases `requests`, which take seconds: they differ from others in selections only.
    cases = "?-[!r]*" if LONG else "g-[!r]*"
    return ["--data", str(E3SM), "--only", cases] if kernel == "e3sm" else []


@pytest.mark.share(12)
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("kernel", "ranks"), RUNS)
def test_written_under_a_layer_read_natively(
    kernel: str, stack: str, ranks: int, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, SERIAL, ranks)
    written = under(bench, stack).samples(kernel, "--quick", "--keep", *options(kernel))
    assert {each["connector"] for each in written} == {f"headrace_{stack.partition('(')[0]}"}
    report = (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()
    seats = {event["seat"] for event in map(json.loads, report) if event["event"] == "file"}
    assert seats == ({"vol"} if "seat=vol" in stack else {"vol", "vfd"})
    reread = bench.start(kernel, "--quick", "--reread", "--samples", "read", *options(kernel))
    assert reread.status == 0, reread.text
    read = [json.loads(line) for line in (tmp_path / "read").read_text().splitlines()]
    assert [each["case"] for each in read] == [each["case"] for each in written]
    assert all(each["verified"] and each["connector"] == "native" for each in read)


@pytest.mark.share(8)
@pytest.mark.parametrize(("kernel", "ranks"), RUNS)
def test_cases_move_as_many_bytes_as_they_list(kernel: str, ranks: int, tmp_path: Path) -> None:
    bench = Bench(tmp_path, SERIAL, ranks)
    epochs = ["--epochs", "3"] if kernel == "ml" else []
    arguments = [kernel, "--quick", *epochs, *options(kernel)]
    listed = bench.start("--list", *arguments)
    assert listed.status == 0, listed.text
    expected = {each["case"]: each["bytes"] for each in map(json.loads, listed.out.splitlines())}
    found = {each["case"]: each["bytes"] for each in bench.samples(*arguments)}
    for size in found.values():
        del size["file"]
    assert found == expected


def test_the_kernels_are_those_that_are_documented() -> None:
    guide = ROOT / "docs/guide/kernels"
    assert sorted(page.stem for page in guide.glob("*.md")) == sorted(KERNELS)
