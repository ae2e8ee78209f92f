"""h5py's own tests, as the wheel ships them: each ends under our layers as it does natively."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.outcome import differences, tally
from harness.python_suite import SuiteRun, assert_same, run_suite
from harness.stack import NATIVE, PASS_THROUGH


def h5py_suite(spec: str, folder: Path) -> SuiteRun:
    return run_suite(spec, folder / "run", ["--pyargs", "h5py"], limit=180)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> SuiteRun:
    return h5py_suite(NATIVE, tmp_path_factory.mktemp("h5py"))


def test_native_is_worth_comparing_with(native: SuiteRun) -> None:
    assert tally(native.outcomes)["passed"] > 800


@pytest.mark.parametrize(
    ("spec", "seats"),
    [
        ("async", ["vol", "vfd"]),
        ("log", ["vol"]),
        ("null(seat=vol)", ["vol"]),
        ("null(seat=vfd)", ["vfd"]),
        ("null(seat=both)", ["vol", "vfd"]),
        ("null,null,null", ["vol", "vfd"]),
    ],
)
def test_same_outcomes(native: SuiteRun, spec: str, seats: list[str], tmp_path: Path) -> None:
    under = h5py_suite(spec, tmp_path)
    assert_same(native, under)
    opening = {"vol": ("file_create", "file_open"), "vfd": ("open",)}
    for seat in seats:
        calls = under.report.calls(seat)
        assert sum(calls[name] for name in opening[seat]) > 500, calls


def test_a_connector_that_changes_something_is_seen(native: SuiteRun, tmp_path: Path) -> None:
    """HDF5's sample connector loses errno: the comparison must say so, and nothing else."""
    lost = {name.rpartition("::")[2] for name in differences(
        native.outcomes, h5py_suite(PASS_THROUGH, tmp_path).outcomes
    )}  # fmt: skip
    assert {"test_nonexistent_file", "test_create_exclusive", "test_append", "test_sec2"} <= lost
    assert len(lost) < 10
