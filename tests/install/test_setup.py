"""What `make demo` and `make test` install on a machine that gets its MPIs in between.

The Makefile runs as it is. What would take minutes is played: Debian's packages, CMake, and pip,
which "installs" a module for each MPI that it finds.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from harness.installed import lacking
from install.commands import ROOT, output_of

MPIS = ("openmpi", "mpich")
# Set-up of the tests brings the MPIs, as apt.sh does on a fresh machine.
APT = """#!/bin/sh
[ "$1" = test ] || exit 0
for mpi in openmpi mpich; do
    [ -e "$MACHINE/mpicc.$mpi" ] || echo "version 1" >"$MACHINE/mpicc.$mpi"
done
chmod +x "$MACHINE"/mpicc.*
"""
CMAKE = """#!/bin/sh
mkdir -p build/dev
touch build/dev/build.ninja
"""
PIP = """#!/bin/sh
case "$*" in *--force-reinstall*) ;; *) exit 0 ;; esac
echo "$@" >>"$MACHINE/../installed"
rm -rf "$MACHINE/../package"
mkdir "$MACHINE/../package"
for mpi in openmpi mpich; do
    if [ -e "$MACHINE/mpicc.$mpi" ]; then cp "$MACHINE/mpicc.$mpi" "$MACHINE/../package/$mpi"; fi
done
"""


class Machine:
    """One that has never seen the project, with a clone of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in Path("/usr/bin").iterdir():
            if not tool.name.startswith("mpi"):
                (self.bin / tool.name).symlink_to(tool)
        self.clone.mkdir()
        for name in ("Makefile", "requirements", "scripts"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, self.clone / name)
        self.play(self.clone / "scripts/setup/apt.sh", APT)
        self.play(self.clone / "scripts/setup/build-hdf5.sh", "#!/bin/sh\n")
        self.play(self.bin / "cmake", CMAKE)
        self.play(self.clone / ".venv/bin/pip", PIP)

    @staticmethod
    def play(path: Path, script: str) -> None:
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)

    def make(self, target: str) -> None:
        hidden = {name: "" for name in os.environ if name.startswith("MAKE")}
        machine = {"PATH": str(self.bin), "MACHINE": str(self.bin)}
        output_of(self.bin / "make", target, cwd=self.clone, **hidden, **machine)

    def modules(self) -> set[str]:
        return {module.name for module in (self.folder / "package").iterdir()}

    def installations(self) -> int:
        return len((self.folder / "installed").read_text().splitlines())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_was_installed_without_mpi_has_modules_after_the_set_up_of_tests(
    machine: Machine,
) -> None:
    machine.make("setup-demo")
    assert machine.modules() == set()
    machine.make("setup-test")
    assert machine.modules() == set(MPIS)


def test_nothing_is_installed_again_without_need(machine: Machine) -> None:
    for target in ("setup-demo", "setup-demo"):
        machine.make(target)
    assert machine.installations() == 1
    for target in ("setup-test", "setup-test", "setup-demo", "setup-test"):
        machine.make(target)
    assert machine.installations() == 2
    assert machine.modules() == set(MPIS)


def test_another_mpi_gets_another_package(machine: Machine) -> None:
    """One of another version, and one that goes."""
    machine.make("setup-test")
    (machine.bin / "mpicc.mpich").write_text("version 2\n")
    machine.make("setup-demo")
    assert (machine.folder / "package/mpich").read_text() == "version 2\n"
    (machine.bin / "mpicc.mpich").unlink()
    machine.make("setup-demo")
    assert machine.modules() == {"openmpi"}


def test_changed_sources_are_installed(machine: Machine) -> None:
    machine.make("setup-test")
    time.sleep(0.05)  # file systems count time in ticks
    (machine.clone / "pyproject.toml").touch()
    machine.make("setup-test")
    assert machine.installations() == 2


def test_tests_say_which_command_mends_a_package_without_modules(tmp_path: Path) -> None:
    assert "run `make setup-test`" in lacking(tmp_path)
    for mpi in MPIS:
        (tmp_path / f"libheadrace_mpi_{mpi}.so").touch()
    assert lacking(tmp_path) == ""
