"""HDF5's own API suite, serial and parallel: every check ends as it does natively.

The suite skips what a connector does not claim and falls back to native when a plug-in is missing,
so `nothing failed` proves little: the maps of results are compared, and the report must show that
the calls went through us.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from harness.api_suite import Suite, parse
from harness.kept import kept
from harness.outcome import differences, explain
from harness.prefix import Hdf5
from harness.ranks import launch
from harness.report import Report
from harness.run import run
from harness.stack import NATIVE, PASS_THROUGH, stack_env

# Ranks -> what 1.14.5's suites pass natively (0: the serial one). Fewer would prove less.
NATIVE_PASSES = {0: 1074, 2: 30}

VOL, VFD, BOTH = "null(seat=vol)", "null(seat=vfd)", "null(seat=both)"
STACKS = {
    "vol": VOL,
    "vfd": VFD,
    "both": BOTH,
    "async": "async",
    "log": "log",
    "async,log": "async,log",
    "model": "model(mode=predict)",
    "chain": "null,fault,model(mode=predict)",
    "three": "null,null,null",
    "stripe": "stripe(files=3,size=4KiB)",
    "async,stripe": "async,stripe(files=3,size=4KiB)",
    "trace": "trace",
    "trace,async": "trace,async",
    "trace,log": "trace,log",
    "cache": "cache(settle=0)",
    "cache,async,log": "cache(settle=0),async,log",
    "tune": "tune(seat=both)",
    "tune,async": "tune,async",
    "object": "object(store=store)",
    "memory": "memory",
    "below_pass_through": f"{PASS_THROUGH},{VOL}",
    "above_pass_through": f"{VOL},{PASS_THROUGH}",
}
# A program that sets the mpio driver itself never asks HDF5_DRIVER. Drivers with options in a chain
# over mpio fail now and then.
SERIAL = {"vfd", "chain"}
# They keep no files of ranks.
SERIAL |= {"object", "memory"}
# What the others do is done by `both` and by `three`.
SUBSUMED = {"vol", "vfd", "below_pass_through"}
CASES = [
    pytest.param(
        ranks,
        name,
        marks=[pytest.mark.long]
        if name in SUBSUMED
        else [pytest.mark.sanitized]
        if name in ("async", "log", "async,log")
        else [],
    )
    for ranks in (0, 2)
    for name in STACKS
    if not (ranks and name in SERIAL)
]


def program(hdf5: Hdf5, ranks: int) -> Path:
    return hdf5.program(f"tests/h5_api_test{'_parallel' if ranks else ''}")


def suite(hdf5: Hdf5, ranks: int, spec: str, folder: Path) -> tuple[Suite, Report]:
    launcher = launch(hdf5, ranks) if ranks else []
    folder.mkdir()
    report = folder / "report.jsonl"
    done = run(
        [*launcher, program(hdf5, ranks)], env=stack_env(spec, report), cwd=folder, limit=120
    )
    found = parse(done.out.decode(errors="replace"))
    assert found.totals, f"the suite did not reach its summary (status {done.status})\n{done.text}"
    return found, Report(report)


Native = Callable[[int], Suite]


@pytest.fixture(scope="session")
def native(hdf5: Hdf5, tmp_path_factory: pytest.TempPathFactory) -> Native:
    @functools.cache
    def once(ranks: int) -> Suite:
        folder = tmp_path_factory.mktemp("api") / "run"
        depends = [program(hdf5, ranks), (hdf5.prefix / "lib/libhdf5.so").resolve()]
        made = kept("api-suite", depends, lambda: asdict(suite(hdf5, ranks, NATIVE, folder)[0]))
        return Suite(**made)

    return once


@pytest.mark.parametrize(("ranks", "known"), NATIVE_PASSES.items())
def test_native_is_the_suite_we_know(native: Native, ranks: int, known: int) -> None:
    """The reading is complete: it finds the passes that the suite itself counted."""
    found = native(ranks)
    assert found.passed == found.totals["passed"] >= known
    assert found.totals["did not pass"] == 0


@pytest.mark.parametrize(("ranks", "stack"), CASES)
def test_same_results(hdf5: Hdf5, native: Native, ranks: int, stack: str, tmp_path: Path) -> None:
    found, report = suite(hdf5, ranks, STACKS[stack], tmp_path / "run")
    different = differences(native(ranks).results, found.results)
    assert not different, explain(different)
    assert found.totals == native(ranks).totals
    took_part(report, stack, hdf5, max(ranks, 1))


def took_part(report: Report, stack: str, hdf5: Hdf5, processes: int) -> None:
    """Each process loaded us, into the libhdf5 under test, and its files went through us."""
    seats = ["vfd"] if stack == "vfd" else ["vol"]
    if stack in (
        "async",
        "async,log",
        "both",
        "chain",
        "three",
        "stripe",
        "async,stripe",
        "cache,async,log",
        "trace",
        "trace,async",
        "tune,async",
    ):
        seats = ["vol", "vfd"]
    if stack == "tune" and processes == 1:  # over MPI its driver has nothing to do
        seats = ["vol", "vfd"]
    for seat in seats:
        pids = {load["pid"] for load in report.select("load", seat=seat)}
        assert len(pids) == processes, f"{seat}: loaded by {pids}"
        assert len(report.select("counts", seat=seat)) >= processes, report.events
        calls = report.calls(seat)
        opened = calls["file_create"] + calls["file_open"] if seat == "vol" else calls["open"]
        assert opened > 50 * (processes == 1), f"{seat}: {calls}"
    layers = {word.partition("(")[0] for word in STACKS[stack].split(",")} - {PASS_THROUGH}
    for layer in {word for word in layers if word.isidentifier()}:
        names = {f"headrace_{layer}", f"headrace_{layer}_mpi"}
        assert {load["name"] for load in report.select("load")} & names, f"{layer} was not there"
    for library in report.libraries():
        assert Path(library).resolve().is_relative_to(hdf5.prefix.resolve()), library


def test_connector_is_named_in_the_summary(hdf5: Hdf5, tmp_path: Path) -> None:
    found, _ = suite(hdf5, 0, VOL, tmp_path / "run")
    assert found.connector == "headrace_null"


def test_three_layers_see_three_times_the_calls(hdf5: Hdf5, tmp_path: Path) -> None:
    """Stacking is real: the same work, counted once per layer."""
    specs = {"one": VOL, "three": ",".join([VOL] * 3)}
    counts = {
        name: suite(hdf5, 0, spec, tmp_path / name)[1].calls("vol") for name, spec in specs.items()
    }
    for call in ("file_create", "dataset_write", "attr_create", "link_create"):
        assert counts["one"][call] > 0, counts["one"]
        assert counts["three"][call] == 3 * counts["one"][call], call
