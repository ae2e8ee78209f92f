"""Which kernels of the benchmark a run is like: another size of a kernel finds its own first."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from launched import HEADRACE, Launcher

import headrace.trace
from headrace.measuring import programs
from headrace.trace.analysis import neighbours
from headrace.trace.analysis.signature import signature

# Neither the sizes that are known nor powers of two.
OTHER_SIZES = {
    "vpic/compound-members-independent": ("--slow-particles", "1500", "--timesteps", "4"),
    "bdcats/partial-independent": ("--particles", "20000", "--timesteps", "4"),
    "hacc/arrays-independent": ("--particles", "20000"),
    "e3sm/g-boxes-independent": ("--records", "2"),
    "amrex/multi-default": ("--domain", "64"),
    "cgns/single-independent": ("--elements", "3000"),
    "sw4/image": ("--nx", "48"),
    "ior/independent": ("--segments", "16"),
    "ml/gzip-union": ("--samples", "96"),
    "metadata/latest-compact": ("--groups", "9"),
}


def traced(launcher: Launcher, case: str, *words: str) -> Path:
    kernel, _, name = case.partition("/")
    library = programs.hdf5(None, parallel=False).file
    data = launcher.folder / "data"
    data.mkdir()
    program: list[str | Path] = [programs.bench(None), kernel, "--quick", "--only", name]
    program += ["--hdf5", library, "--dir", data, *words]
    done = launcher(HEADRACE, "trace", "-o", "case.hrtrace", "--", *program)
    assert done.status == 0, done.text
    return launcher.folder / "case.hrtrace"


@pytest.mark.parametrize(
    "case",
    [
        case if i % 3 == 0 else pytest.param(case, marks=pytest.mark.long)
        for i, case in enumerate(OTHER_SIZES)
    ],
)
@pytest.mark.timeout(180)
def test_another_size_finds_its_kernel_first(case: str, tmp_path: Path) -> None:
    launcher = Launcher(tmp_path)
    folder = traced(launcher, case, *OTHER_SIZES[case])
    first, second, *_ = neighbours.nearest(signature(headrace.trace.open(folder)))
    assert case in first.cases
    assert first.distance < second.distance
    told = launcher(HEADRACE, "trace", "similar", "case.hrtrace").out.decode()
    assert f"case.hrtrace behaves like {', '.join(first.cases)} ({first.distance:.3f}); " in told


PARTICLES = """
import h5py, numpy as np
with h5py.File("particles.h5", "w") as f:
    for step in range(3):
        for name in "xyzuvwij":
            f[f"step{step}/{name}"] = np.zeros(30000, "f4")
with h5py.File("particles.h5") as f:
    for step in range(3):
        for name in "xyzuvwij":
            f[f"step{step}/{name}"][()]
"""


def test_vpic_is_among_the_neighbours_of_a_program_with_arrays_of_particles(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path)
    (tmp_path / "program.py").write_text(PARTICLES)
    assert launcher(HEADRACE, "trace", "--", sys.executable, "program.py").status == 0
    found = neighbours.nearest(signature(headrace.trace.open(tmp_path / "program.hrtrace")))
    assert "vpic" in {kernel for each in found[:3] for kernel in each.kernels}, found[:5]


def test_every_case_of_every_kernel_is_known() -> None:
    known = json.loads(neighbours.FILE.read_text(encoding="utf-8"))
    cases = [case for run in known["runs"] for case in run["cases"]]
    assert len(cases) == len(set(cases))
    library = programs.hdf5(None, parallel=False).file
    for kernel in {case.partition("/")[0] for case in cases}:
        words = [programs.bench(None), kernel, "--quick", "--hdf5", library, "--list"]
        listed = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60)
        for line in listed.stdout.splitlines():
            assert f"{kernel}/{json.loads(line)['case']}" in cases


def test_equal_signatures_are_one_neighbour() -> None:
    one, other = {"calls": 0.5}, {"calls": 0.25}
    kept = neighbours.kept({"a/1": one, "b/1": one, "b/2": other})
    assert [run["cases"] for run in kept["runs"]] == [["a/1", "b/1"], ["b/2"]]
