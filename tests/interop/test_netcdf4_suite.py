"""netCDF4-python's tests, from its source distribution, run against the installed wheel."""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
from harness.outcome import Outcomes, tally
from harness.python_suite import SuiteRun, assert_same, native_outcomes, run_suite
from harness.run import run
from harness.stack import CLEAN, NATIVE

# It reads a server on the Internet; its outcome says nothing about HDF5 on this machine.
EXCLUDED = "test_dap.py"


STRIPE = "stripe(files=3,size=4KiB)"
OBJECT = "object(store=store)"
# The size of the file itself, and what h5ls says of it without the layer: those of the stub.
PAST_HDF5 = [
    *(
        f"test_compression{name}.CompressionTestCase::runTest"
        for name in ("", "_bzip2", "_quant", "_zstd")
    ),
    "test_alignment.AlignmentTestCase::test_setting_alignment",
]


@pytest.fixture(scope="module")
def tests(cache: Path) -> Path:
    """The tests of exactly the installed version, fetched once.

    Unpacked, pip asks the package for its metadata, and that step wants netCDF's headers, which
    nothing here needs: what counts is the unpacked source, kept on request.
    """
    wanted = f"netCDF4=={version('netCDF4')}"
    kept = cache / wanted.replace("==", "-")
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            command = [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-clean",
                "--no-build-isolation", "--no-binary", "netCDF4", wanted, "--dest", folder,
            ]  # fmt: skip
            done = run(command, env={**CLEAN, "TMPDIR": folder}, cwd=cache, limit=300)
            found = list(Path(folder).glob("*/*/test/test_vars.py"))
            assert len(found) == 1, f"pip did not unpack {wanted}: {done.text[-2000:]}"
            found[0].parent.rename(kept)
    return kept


def netcdf4_suite(spec: str, folder: Path, tests: Path) -> SuiteRun:
    """The tests read and write beside themselves: each run gets its own copy."""
    shutil.copytree(tests, folder / "run")
    return run_suite(spec, folder / "run", [f"--ignore={EXCLUDED}", "."], limit=240)


@pytest.fixture(scope="module")
def native(tests: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("netcdf4")
    return native_outcomes(
        "netCDF4",
        f"whole but {EXCLUDED}",
        folder,
        lambda place: netcdf4_suite(NATIVE, place, tests),
    )


def test_native_is_worth_comparing_with(native: Outcomes) -> None:
    assert tally(native)["passed"] > 140


@pytest.mark.parametrize(
    ("spec", "seats"),
    [
        pytest.param("log", ["vol"], marks=pytest.mark.long),
        ("async,log", ["vol", "vfd"]),
        (OBJECT, ["vol"]),
        pytest.param("async", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("tune(seat=both)", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("tune(seat=both),async", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param(STRIPE, ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param(f"async,{STRIPE}", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("null(seat=both)", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("null(seat=vol)", ["vol"], marks=pytest.mark.long),
        pytest.param("cache(settle=0)", ["vol"], marks=pytest.mark.long),
        pytest.param("cache(settle=0),async", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("cache(settle=0),log", ["vol"], marks=pytest.mark.long),
    ],
)
def test_same_outcomes(
    native: Outcomes, tests: Path, spec: str, seats: list[str], tmp_path: Path
) -> None:
    under = netcdf4_suite(spec, tmp_path, tests)
    assert_same(native, under, PAST_HDF5 if STRIPE in spec or spec == OBJECT else ())
    for seat in seats:
        assert sum(under.report.calls(seat).values()) > 1000, under.report.calls(seat)
