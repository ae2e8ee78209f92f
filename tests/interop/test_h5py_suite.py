"""h5py's own tests, as the wheel ships them: each ends under our layers as it does natively."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.outcome import Outcomes, differences, tally
from harness.python_suite import SuiteRun, assert_same, native_outcomes, run_suite
from harness.stack import NATIVE, PASS_THROUGH

STRIPE = "stripe(files=3,size=4KiB)"
# What looks at a file in pieces past HDF5, or by another driver, finds the stub; SWMR is refused.
_SWMR = "tests.test_dataset_swmr.TestDatasetSwmrRead::test_"
_VDS = "tests.test_vds.test_highlevel_vds."
PAST_HDF5 = [
    *(f"{_SWMR}{name}" for name in ("initial_swmr_mode_on", "read_data", "refresh")),
    *(f"{_SWMR}force_swmr_mode_{name}_raises" for name in ("on", "off")),
    "tests.test_group::test_get_elink_swmr_arg_from_rw_file[True]",
    *(
        f"tests.test_group::test_get_elink_swmr_arg_from_ro_file[{which}]"
        for which in ("True-True", "True-False", "False-True")
    ),
    # Copies of the file alone, or its bytes.
    f"{_VDS}VDSUnlimitedTestCase::test_unlimited_axis",
    "tests.test_file::test_reproducible_file",
    "tests.test_file.TestDrivers::test_readonly",  # core
]
_DATASET = "tests.test_dataset."
# What containers have not, or not yet (docs/guide/object.md).
NOT_IN_CONTAINERS = [
    *(  # external raw storage
        f"{_DATASET}TestExternal::test_{name}"
        for name in (
            *("contents", "contents_efile_prefix", "create_expandable", "iter_multi"),
            *("name_path", "name_str"),
        )
    ),
    # There are no locks of files: a second writer is welcome, and nobody replaces an open file.
    *(f"tests.test_file.TestFileLocking::test_{name}" for name in ("multiprocess", "reopen")),
    # Pages, blocks, addresses and caches of a file, and its bytes.
    *(
        f"tests.test_file.TestPageBuffering::test_{name}"
        for name in ("actual_pbs", "only_with_page_strategy", "open_nonpage_pbs", "smaller_pbs")
    ),
    *(
        f"tests.test_file2.TestFileMetaBlockSize::test_file_create_with_meta_block_size_{size}"
        for size in (512, 4096)
    ),
    *(
        f"tests.test_file_alignment.TestFileAlignment::test_{name}"
        for name in (
            *("alignment_set_above_threshold", "alignment_set_below_threshold"),
            "no_alignment_set",
        )
    ),
    *(
        f"tests.test_h5f.TestCacheConfig::test_{name}"
        for name in ("hitrate_reset", "mdc_config_get", "simple_gets")
    ),
    "tests.test_file::test_reproducible_file",
    # Copies that expand external links or references.
    *(f"tests.test_group.TestCopy::test_copy_{name}" for name in ("external_links", "refs")),
    f"{_VDS}VDSUnlimitedTestCase::test_unlimited_axis",  # copies the file alone, and writes it
]
KNOWN = {STRIPE: PAST_HDF5, f"async,{STRIPE}": PAST_HDF5, "object(store=store)": NOT_IN_CONTAINERS}


def h5py_suite(spec: str, folder: Path, part: str = "h5py") -> SuiteRun:
    return run_suite(spec, folder / "run", ["--pyargs", part], limit=400)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("h5py")
    return native_outcomes("h5py", "whole", folder, lambda place: h5py_suite(NATIVE, place))


def test_native_is_worth_comparing_with(native: Outcomes) -> None:
    assert tally(native)["passed"] > 800


@pytest.mark.parametrize(
    ("spec", "seats"),
    [
        ("async,log", ["vol", "vfd"]),
        ("object(store=store)", ["vol"]),
        pytest.param("async", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("log", ["vol"], marks=pytest.mark.long),
        ("cache(settle=0)", ["vol"]),
        pytest.param("cache(settle=0),async,log", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("tune(seat=both)", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("tune(seat=both),async", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param(STRIPE, ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param(f"async,{STRIPE}", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("null,null,null", ["vol", "vfd"], marks=pytest.mark.long),
        pytest.param("null(seat=vol)", ["vol"], marks=pytest.mark.long),
        pytest.param("null(seat=vfd)", ["vfd"], marks=pytest.mark.long),
        pytest.param("null(seat=both)", ["vol", "vfd"], marks=pytest.mark.long),
    ],
)
def test_same_outcomes(native: Outcomes, spec: str, seats: list[str], tmp_path: Path) -> None:
    under = h5py_suite(spec, tmp_path)
    assert_same(native, under, KNOWN.get(spec, ()))
    opening = {"vol": ("file_create", "file_open"), "vfd": ("open",)}
    for seat in seats:
        calls = under.report.calls(seat)
        assert sum(calls[name] for name in opening[seat]) > 500, calls


def test_a_connector_that_changes_something_is_seen(native: Outcomes, tmp_path: Path) -> None:
    """HDF5's sample connector loses errno: the comparison must say so, and nothing else."""
    under = h5py_suite(PASS_THROUGH, tmp_path, "h5py.tests.test_file").outcomes
    part = "tests.test_file"
    files = {
        name.removeprefix(part): native[name]
        for name in native
        if name.startswith((f"{part}.", f"{part}::"))
    }
    lost = {name.rpartition("::")[2] for name in differences(files, under)}
    assert {"test_nonexistent_file", "test_create_exclusive", "test_append", "test_sec2"} <= lost
    assert len(lost) < 10
