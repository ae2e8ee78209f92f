"""h5py's and netCDF4's own tests, as programs that take a time."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.common.evidence import LIMIT, RunError
from bench.common.session import ROOT

# As tests/interop has them: it fetches netCDF4's, and knows which fail under the layer and why.
NETCDF4 = ROOT / "build/interop"
_NOT_OF_THIS_MACHINE = "test_dap.py"


def sample(environ: Mapping[str, str], given: Mapping[str, Any], work: Path) -> dict[str, Any]:
    """Seconds of a suite, and how many of its tests passed and failed."""
    place = work / "run"
    place.mkdir()
    what = ["--pyargs", ".".join(filter(None, ["h5py", given["part"]]))]
    if given["suite"] == "netCDF4":
        tests = NETCDF4 / f"netCDF4-{version('netCDF4')}"
        if not tests.exists():
            return {"skipped": "the tests of netCDF4 are not there: tests/interop fetches them"}
        shutil.copytree(tests, place, dirs_exist_ok=True)  # they write beside themselves
        what = [f"--ignore={_NOT_OF_THIS_MACHINE}", given["part"] or "."]
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider",
             "-c", "/dev/null", "--rootdir", str(place), *what]  # fmt: skip
    begin = time.perf_counter()
    done = subprocess.run(words, env=dict(environ), cwd=place, check=False, capture_output=True,
                          text=True, timeout=LIMIT)  # fmt: skip
    taken = time.perf_counter() - begin
    told = done.stdout.strip().splitlines()[-1:] or [done.stderr[-300:]]
    if done.returncode not in (0, 1):
        raise RunError(f"pytest ended with {done.returncode}: {told[0]}")
    return {"run_wall": taken, "tests": told[0].strip("= ")}
