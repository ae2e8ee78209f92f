"""PyTables' own tests, as its wheel ships them, which brings a libhdf5 of its own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from harness.outcome import VARYING, Outcomes, tally
from harness.python_suite import SuiteRun, assert_same, native_outcomes, run_suite
from harness.report import Report
from harness.run import run
from harness.stack import NATIVE, stack_env

BEHIND = ["async", "log", "async,log"]
OBJECT = "object(store=store)"
STACKS = [*BEHIND, "cache(settle=0)", "stripe(files=3,size=4KiB)", OBJECT]
# The size of the file itself: that of the stub.
_SIZE = "tables.tests.test_carray.SizeOnDiskInMemoryPropertyTestCase.test_"
PAST_HDF5 = {
    "stripe(files=3,size=4KiB)": [f"{_SIZE}highly_compressible_data", f"{_SIZE}random_data"],
    OBJECT: [f"{_SIZE}random_data"],
}
# It reads the chunks of Blosc2 from the file by itself, where HDF5 says that they are.
BLOSC2 = ["test_carray.py", "-k", "Blosc2 and Opt"]
# Whole modules, and some classes, that write and read data in many ways and take seconds only.
# Those of EArray do not: with 2 cores Blosc2's threads wait for each other there, natively, too.
DATA = [
    *(
        f"tables.tests.test_{name}."
        for name in ("array", "carray", "direct_chunk", "do_undo", "expression", "links")
    ),
    *(f"tables.tests.test_{name}." for name in ("nestedtypes", "tree", "vlarray")),
    "tables.nodes.tests.",
    *(
        f"tables.tests.test_tables.{name}"
        for name in ("AllFilters", "CompressBlosc2Shuffle", "CompressZLIBShuffle", "Fletcher32")
    ),
    *(
        f"tables.tests.test_tables.{name}"
        for name in ("PointSelection", "RecArrayIO", "SetItem", "UpdateRow", "WhereAppend")
    ),
]
# Those of each day under the layer that keeps files in a store.
DAILY = [
    f"tables.tests.test_{name}."
    for name in ("carray", "direct_chunk", "expression", "links", "nestedtypes")
]


def pytables_suite(spec: str, folder: Path, arguments: list[str], limit: float) -> SuiteRun:
    spec_of_package = find_spec("tables")
    assert spec_of_package is not None
    assert spec_of_package.origin is not None
    tests = Path(spec_of_package.origin).parent / "tests"
    found = [str(tests / one) if one.endswith(".py") else one for one in arguments]
    return run_suite(spec, folder / "run", found, limit)


def as_released(spec: str, folder: Path, chosen: Sequence[str], limit: float) -> SuiteRun:
    """What `python -m tables.tests.test_all` runs, or a part of it: pytest finds bases, too."""
    folder = folder / "run"
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    into, report = folder / "outcomes.json", folder / "report.jsonl"
    program = Path(__file__).with_name("unittest_outcomes.py")
    done = run(
        [sys.executable, program, into, "tables.tests.test_suite", *chosen],
        env=stack_env(spec, report, TMPDIR=str(temporary)),
        cwd=folder,
        limit=limit,
    )
    assert done.status == 0, f"status {done.status} under {spec}\n{done.text[-4000:]}"
    ended = json.loads(into.read_text())
    outcomes = {name: VARYING.sub("*", "; ".join(ends)) for name, ends in ended.items()}
    return SuiteRun(outcomes, Report(report))


def by_module(native: Outcomes, spec: str, folder: Path) -> SuiteRun:
    """In a process each: where a program has deleted a link, the log layer logs nothing more."""
    outcomes: dict[str, str] = {}
    report = Report(folder / "none yet")
    for module in sorted({".".join(name.split(".")[:3]) + "." for name in native}):
        under = as_released(spec, folder / module, [module], limit=1800)
        outcomes |= under.outcomes
        report.events += under.report.events
    return SuiteRun(outcomes, report)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("pytables")
    found = native_outcomes(
        "tables",
        f"{BLOSC2}",
        folder,
        lambda place: pytables_suite(NATIVE, place, BLOSC2, limit=120),
    )
    assert tally(found)["passed"] > 20
    return found


@pytest.mark.parametrize("spec", STACKS)
def test_blosc2_chunks(native: Outcomes, spec: str, tmp_path: Path) -> None:
    under = pytables_suite(spec, tmp_path, BLOSC2, limit=120)
    assert_same(native, under)
    assert under.report.calls("vol")["dataset_write"] > 20


def assert_same_but_for_sizes(native: Outcomes, under: SuiteRun, spec: str) -> None:
    """H5Dwrite_chunk leaves the filter mask of a chunk as it was that had as many bytes before.

    How many it had depends on the encoder of deflate, which is another one in async.
    """
    sizes = "tables.tests.test_direct_chunk.TableDirectChunkingTestCase.test_write_chunk_filtermask"
    if "async" in spec:
        native = {name: end for name, end in native.items() if name != sizes}
        under = replace(under, outcomes={n: e for n, e in under.outcomes.items() if n != sizes})
    assert_same(native, under, PAST_HDF5.get(spec, ()))


def assert_worked(under: SuiteRun, spec: str, files: int) -> None:
    """The layers were there, and did something."""
    done = {
        name: sum(event["values"].get(name, 0) for event in under.report.select("statistics"))
        for name in (
            "chunks_encoded",
            "written_behind_bytes",
            "writes_logged",
            "striped_written_bytes",
            "cache_hits",
        )
    }
    calls = under.report.calls("vol")
    print(spec, done, calls["file_create"] + calls["file_open"])
    assert calls["file_create"] + calls["file_open"] > files * len(
        re.findall(r"[^,(]+(?:\(.*?\))?", spec)
    ), calls
    if "async" in spec:
        assert done["chunks_encoded"] > files, done
        assert done["written_behind_bytes"] > 1000 * files, done
    if "log" in spec:
        assert done["writes_logged"] > files / 10, done
    if "cache" in spec:
        assert done["cache_hits"] > 100, done
    if "stripe" in spec:
        assert done["striped_written_bytes"] > 1000 * files, done


@pytest.fixture(scope="module")
def native_data(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("pytables")
    return native_outcomes(
        "tables", f"{DATA}", folder, lambda place: as_released(NATIVE, place, DATA, limit=300)
    )


@pytest.mark.long
@pytest.mark.parametrize("spec", STACKS)
def test_data(native_data: Outcomes, spec: str, tmp_path: Path) -> None:
    assert tally(native_data)["passed"] > 1200
    under = as_released(spec, tmp_path, DATA, limit=300)
    assert_same_but_for_sizes(native_data, under, spec)
    assert_worked(under, spec, 1000)


def test_containers(tmp_path: Path) -> None:
    native = native_outcomes(
        "tables", f"{DAILY}", tmp_path, lambda place: as_released(NATIVE, place, DAILY, limit=200)
    )
    assert tally(native)["passed"] > 600
    (layer := tmp_path / "layer").mkdir()
    under = as_released(OBJECT, layer, DAILY, limit=200)
    assert_same_but_for_sizes(native, under, OBJECT)
    assert_worked(under, OBJECT, 200)


@pytest.fixture(scope="module")
def native_whole(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("pytables")
    return native_outcomes(
        "tables", "whole", folder, lambda place: as_released(NATIVE, place, [], limit=3600)
    )


@pytest.mark.long
@pytest.mark.timeout(7200)  # natively four minutes, where nothing else runs
@pytest.mark.parametrize("spec", BEHIND)
def test_all(native_whole: Outcomes, spec: str, tmp_path: Path) -> None:
    assert len(native_whole) >= 6800
    assert tally(native_whole).keys() <= {"passed", "skipped"}
    under = by_module(native_whole, spec, tmp_path)
    assert_same_but_for_sizes(native_whole, under, spec)
    assert_worked(under, spec, 5000)
