"""`pip install .` in a fresh virtual environment, next to the h5py wheel."""

from __future__ import annotations

import json
import platform
import re
import sys
from pathlib import Path

import pytest
from install.commands import output_of

pytestmark = pytest.mark.timeout(900)

# What is part of every Linux system that can run the wheel at all.
# The loader has the address of what each thread has of its own.
LOADER = "ld-linux-x86-64.so.2" if platform.machine() == "x86_64" else "ld-linux-aarch64.so.1"
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", LOADER}

PROGRAM = """
import h5py
with h5py.File("out.h5", "w") as file:
    file["x"] = range(100)
"""


@pytest.fixture(scope="module")
def environment(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    output_of(sys.executable, "-m", "venv", folder, cwd=checkout)
    pinned = (checkout / "requirements/demo.txt").read_text()
    h5py = re.findall(r"^(?:h5py|numpy)==.*$", pinned, re.MULTILINE)
    assert len(h5py) == 2
    output_of(folder / "bin/pip", "install", "--quiet", *h5py, cwd=checkout)
    # As it is released but for the optimisation, which takes minutes.
    quick = {"SKBUILD_CMAKE_DEFINE": "CMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"}
    output_of(folder / "bin/pip", "install", "--quiet", ".", cwd=checkout, **quick)
    return folder


@pytest.fixture(scope="module")
def libraries(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Each shared object of the package."""
    ask = "import headrace; print(headrace.plugin_path())"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    plugins = Path(output_of(environment / "bin/python", "-c", ask, cwd=elsewhere).strip())
    assert plugins.is_relative_to(environment)
    return sorted([*plugins.glob("*.so"), *plugins.parent.glob("*.so")])


def test_the_header_for_c_programs_is_there(environment: Path, tmp_path: Path) -> None:
    ask = "import headrace; print(headrace.include_path())"
    folder = Path(output_of(environment / "bin/python", "-c", ask, cwd=tmp_path).strip())
    assert folder.is_relative_to(environment)
    headers = {header.name for header in (folder / "headrace").iterdir()}
    assert headers == {"async.h", "log.h", "operation.h"}


def test_a_program_runs_under_null(environment: Path, tmp_path: Path) -> None:
    bin_ = environment / "bin"
    command: list[str | Path] = [
        bin_ / "headrace",
        "run",
        "--stack",
        "null",
        "--",
        bin_ / "python",
        "-c",
        PROGRAM,
    ]
    output_of(*command, cwd=tmp_path, HEADRACE_REPORT="report.jsonl")
    events = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    calls = {e["seat"]: e["calls"] for e in events if e["event"] == "counts"}
    assert calls["vol"]["dataset_write"] == 1
    assert calls["vfd"]["write"] > 0
    read = "import h5py; print(h5py.File('out.h5')['x'][:].tolist() == list(range(100)))"
    assert output_of(bin_ / "python", "-c", read, cwd=tmp_path) == "True\n"


def test_its_plugins_are_found(libraries: list[Path]) -> None:
    assert {library.name for library in libraries} >= {
        "libheadrace_core.so",
        "libheadrace_null.so",
        "libheadrace_null_vfd.so",
        "libheadrace_null_vfd_mpi.so",
    }


def test_only_the_mpi_modules_are_linked_with_mpi_and_none_with_hdf5(
    libraries: list[Path], tmp_path: Path
) -> None:
    for library in libraries:
        dynamic = output_of("readelf", "-dW", library, cwd=tmp_path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        # Loaded only for files that a program opens with a communicator.
        if library.name.startswith("libheadrace_mpi_"):
            needed -= {name for name in needed if name.startswith(("libmpi.", "libmpich."))}
        assert {"libc.so.6"} <= needed <= SYSTEM_LIBRARIES, library


def test_no_path_of_the_building_machine_is_left(
    libraries: list[Path], checkout: Path, tmp_path: Path
) -> None:
    for library in libraries:
        dynamic = output_of("readelf", "-dW", library, cwd=tmp_path)
        searched = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
        paths = [path for entry in searched for path in entry.split(":")]
        assert all(path.startswith("$ORIGIN") for path in paths), (library, searched)
        assert str(checkout).encode() not in library.read_bytes(), library
