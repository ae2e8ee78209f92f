"""HDF5's own tests of its subfiling, with the layer in the driver's place."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from harness.build import PLUGINS, ROOT, built
from harness.prefix import Hdf5
from harness.ranks import env_of, launch
from harness.run import Result, run
from harness.stack import NATIVE

TESTS = 60  # twelve, each five times: with and without variables and compression
H5FUSE = ROOT / "build/hdf5/sources/1.14.5/utils/subfiling_vfd/h5fuse.in"
PRELOADED = 'LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$0" exec "$@"'
# What is left is the state of a set whose other pieces the tests have removed by name.
LEFT = "couldn't remove temporary testing directory"


def suite(hdf5: Hdf5, ranks: int, folder: Path, connector: str) -> Result:
    """In a folder of its own, with HDF5's h5fuse."""
    folder.mkdir()
    shutil.copy(H5FUSE, folder / "h5fuse")
    (folder / "h5fuse").chmod(0o755)
    words = [*launch(hdf5, ranks)]
    if connector != NATIVE:
        library = built(f"tests/layers/stripe/ranks/libsubfiling_by_layer_{hdf5.mpi}.so")
        words += ["sh", "-c", PRELOADED, library]
    program = built(f"tests/parallel/t_subfiling_vfd_{hdf5.mpi}")
    environ = env_of(connector, PLUGINS, folder.with_suffix(".report"))
    return run([*words, program], env=environ, cwd=folder, limit=300)


def told(done: Result) -> list[tuple[str, str]]:
    """What is tested, and how that ended."""
    return re.findall(r"^  Testing (.+?) +(PASSED|-SKIP-|\*FAILED\*)$", done.text, re.MULTILINE)


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)
@pytest.mark.parametrize(
    "ranks", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(4, marks=pytest.mark.long)]
)
def test_as_of_hdf5s_driver(tmp_path: Path, hdf5: Hdf5, ranks: int) -> None:
    native = told(suite(hdf5, ranks, tmp_path / "native", NATIVE))
    assert len(native) == TESTS
    connector = "headrace_stripe under_vol=0;under_info={}"
    done = suite(hdf5, ranks, tmp_path / "ours", connector)
    assert told(done) == native, done.text
    assert "All Subfiling VFD tests passed" in done.text
    assert done.status == 0 or LEFT in done.text, done.text
    report = (tmp_path / "ours.report").read_text()
    assert report.count('"event":"load"') >= ranks, report[:500]
    assert "subfile" in report or "striped_written_bytes" in report
