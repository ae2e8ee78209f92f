"""PyTables' own tests, as its wheel ships them, which brings a libhdf5 of its own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from harness.outcome import tally
from harness.python_suite import SuiteRun, assert_same, run_suite
from harness.stack import NATIVE

# It reads the chunks of Blosc2 from the file by itself, where HDF5 says that they are.
BLOSC2 = ["test_carray.py", "test_earray.py", "test_tables.py", "-k", "Blosc2 and Opt"]


def pytables_suite(spec: str, folder: Path, arguments: list[str], limit: float) -> SuiteRun:
    spec_of_package = find_spec("tables")
    assert spec_of_package is not None
    assert spec_of_package.origin is not None
    tests = Path(spec_of_package.origin).parent / "tests"
    found = [str(tests / one) if one.endswith(".py") else one for one in arguments]
    return run_suite(spec, folder / "run", found, limit)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> SuiteRun:
    run = pytables_suite(NATIVE, tmp_path_factory.mktemp("pytables"), BLOSC2, limit=120)
    assert tally(run.outcomes)["passed"] > 30
    return run


@pytest.mark.parametrize("spec", ["async", "log", "async,log"])
def test_blosc2_chunks(native: SuiteRun, spec: str, tmp_path: Path) -> None:
    under = pytables_suite(spec, tmp_path, BLOSC2, limit=120)
    assert_same(native, under)
    assert under.report.calls("vol")["dataset_write"] > 30
