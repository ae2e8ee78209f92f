"""The wheel of `make wheel` in a bare virtual environment, next to the h5py wheel."""

from __future__ import annotations

import json
import platform
import re
import sys
import time
import zipfile
from pathlib import Path

import h5py
import pytest
from harness.program import text_of
from harness.seed import LONG
from install.commands import output_of

pytestmark = pytest.mark.timeout(900)

# What is part of every Linux system that can run the wheel at all.
# The loader has the address of what each thread has of its own.
LOADER = "ld-linux-x86-64.so.2" if platform.machine() == "x86_64" else "ld-linux-aarch64.so.1"
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", LOADER}
SECONDS = 60  # the most that an installation may take on a busy machine


def write_rows() -> None:
    with h5py.File("out.h5", "w") as file:
        file["x"] = range(100)
        rows = file.create_dataset("rows", (100, 100), "i4")
        for i in range(100):
            rows[i, ::2] = i


def read_rows() -> None:
    with h5py.File("out.h5") as file:
        whole = file["x"][:].tolist() == list(range(100))
        print(whole, file["rows"][:, ::2].sum(), file["rows"][5, 4])


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled anew when LONG=1, else made of what `make setup-test` has compiled."""
    dist = tmp_path_factory.mktemp("dist")
    objects = [] if LONG else ["WHEEL_BUILD=build/dev"]
    output_of("make", "--silent", "wheel", f"DIST={dist}", *objects, cwd=root)
    (made,) = dist.iterdir()
    return made


@pytest.fixture(scope="module")
def environment(wheel: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    output_of(sys.executable, "-m", "venv", folder, cwd=wheel.parent)
    pinned = (root / "requirements/demo.txt").read_text()
    needed = re.findall(r"^(?:backports\.zstd|h5py|numpy|rich|typer)==.*$", pinned, re.MULTILINE)
    assert len(needed) == 5
    pip = folder / "bin/pip"
    output_of(pip, "install", "--quiet", *needed, cwd=wheel.parent)
    begin = time.monotonic()
    # No source is built, and nothing is fetched.
    output_of(pip, "install", "--quiet", "--no-index", wheel, cwd=wheel.parent, PATH="/nowhere")
    assert time.monotonic() - begin < SECONDS
    return folder


def test_its_tag_is_of_systems_that_have_all_it_needs(wheel: Path) -> None:
    """At most the C library here; pip of an older system does not take it."""
    found = re.fullmatch(
        rf"headrace-[\d.]+-py3-none-manylinux_2_(\d+)_{platform.machine()}\.whl", wheel.name
    )
    assert found, wheel.name
    assert int(found[1]) <= int(platform.libc_ver()[1].split(".")[1])


def test_neither_hdf5_nor_mpi_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {
        "headrace",
        f"headrace-{wheel.name.split('-')[1]}.dist-info",
    }
    assert [name for name in names if re.search(r"lib(hdf5|mpi|mpich|headrace_mpi_)", name)] == []
    assert "headrace/bin/headrace-replay" in names


def shared_objects(python: Path, elsewhere: Path) -> list[Path]:
    """Each of an installed package."""
    ask = "import headrace; print(headrace.plugin_path())"
    plugins = Path(output_of(python, "-c", ask, cwd=elsewhere).strip())
    assert plugins.is_relative_to(python.parents[1])
    return sorted([*plugins.glob("*.so"), *plugins.parent.glob("*.so")])


@pytest.fixture(scope="module")
def libraries(
    environment: Path, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Those of the wheel, and of `pip install .`, which has MPI modules, too."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environments = (environment, root / ".venv")
    found = [shared_objects(each / "bin/python", elsewhere) for each in environments]
    assert {each.name for each in found[1]} > {each.name for each in found[0]}
    return [*found[0], *found[1]]


def test_the_header_for_c_programs_is_there(environment: Path, tmp_path: Path) -> None:
    ask = "import headrace; print(headrace.include_path())"
    folder = Path(output_of(environment / "bin/python", "-c", ask, cwd=tmp_path).strip())
    assert folder.is_relative_to(environment)
    headers = {header.name for header in (folder / "headrace").iterdir()}
    assert headers == {"async.h", "cache.h", "log.h", "map.h", "operation.h", "stripe.h"}


def test_a_program_runs_under_layers(environment: Path, tmp_path: Path) -> None:
    bin_ = environment / "bin"
    command = ("run", "--stack", "async,log", "--", bin_ / "python", "-c", text_of(write_rows))
    output_of(bin_ / "headrace", *command, cwd=tmp_path, HEADRACE_REPORT="report.jsonl")
    events = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    handled = {(e["seat"], e["name"]) for e in events if e["event"] == "file"}
    assert handled >= {
        ("vol", "headrace_async"),
        ("vfd", "headrace_async"),
        ("vol", "headrace_log"),
    }
    assert output_of(bin_ / "python", "-c", text_of(read_rows), cwd=tmp_path) == "True 247500 5\n"


def test_its_programs_run(environment: Path, tmp_path: Path) -> None:
    """A log that is left beside the file is put in order by a program of the wheel."""
    headrace, python = environment / "bin/headrace", environment / "bin/python"
    later = ("run", "--stack", "log(canonicalise=later)", "--", python, "-c", text_of(write_rows))
    output_of(headrace, *later, cwd=tmp_path)
    assert output_of(python, "-c", text_of(read_rows), cwd=tmp_path) != "True 247500 5\n"
    output_of(headrace, "replay", "out.h5", cwd=tmp_path)
    assert output_of(python, "-c", text_of(read_rows), cwd=tmp_path) == "True 247500 5\n"
    assert "Replay ledgers" in output_of(environment / "bin/headrace-model", "--help", cwd=tmp_path)


def test_its_programs_work_behind_programs(environment: Path, tmp_path: Path) -> None:
    """A file in pieces is made one by a program of the wheel."""
    headrace, python = environment / "bin/headrace", environment / "bin/python"
    pieces = ("run", "--stack", "stripe(fuse=background,files=2)", "--", python, "-c")
    output_of(headrace, *pieces, text_of(write_rows), cwd=tmp_path)
    end = time.monotonic() + 30
    while [path.name for path in tmp_path.iterdir()] != ["out.h5"]:
        assert time.monotonic() < end, list(tmp_path.iterdir())
        time.sleep(0.05)
    assert output_of(python, "-c", text_of(read_rows), cwd=tmp_path) == "True 247500 5\n"


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
    seen: set[str] = set()
    for library in libraries:
        dynamic = output_of("readelf", "-dW", library, cwd=tmp_path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        seen |= needed
        # Loaded only for files that a program opens with a communicator.
        if library.name.startswith("libheadrace_mpi_"):
            needed -= {name for name in needed if name.startswith(("libmpi.", "libmpich."))}
        assert needed <= SYSTEM_LIBRARIES, library
    assert "libc.so.6" in seen, "readelf tells it"


def test_no_path_of_the_building_machine_is_left(
    libraries: list[Path], root: Path, tmp_path: Path
) -> None:
    for library in libraries:
        dynamic = output_of("readelf", "-dW", library, cwd=tmp_path)
        searched = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
        paths = [path for entry in searched for path in entry.split(":")]
        assert all(path.startswith("$ORIGIN") for path in paths), (library, searched)
        assert str(root).encode() not in library.read_bytes(), library
