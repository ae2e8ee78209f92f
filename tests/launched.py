"""The command as users have it, and C programs that are linked with HDF5 in several ways."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.prefix import ROOT, Hdf5
from harness.run import Result, run
from harness.stack import CLEAN

HERE = Path(__file__).parent / "launcher"
HEADRACE = Path(sys.executable).with_name("headrace")
HDF5 = Hdf5("1.14.5-openmpi")
_LIBRARIES = ["-lz", "-lm", "-ldl", "-lpthread"]


def call(tool: str, *words: str | Path) -> None:
    """Of the compiler's tools."""
    found = shutil.which(tool)
    assert found, f"the tests need {tool}"
    subprocess.run([found, *words], check=True, timeout=120)


@dataclass(frozen=True)
class Launcher:
    """Runs commands in a folder of their own."""

    folder: Path

    def __call__(self, *words: str | Path, **environ: str) -> Result:
        return run(words, env={**CLEAN, "COLUMNS": "200", **environ}, cwd=self.folder, limit=120)

    def run(self, stack: str, *command: str | Path, **environ: str) -> Result:
        return self(HEADRACE, "run", "--stack", stack, "--", *command, **environ)


class Programs:
    """Compiles `writes.c`, each way once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._archive = folder / "libhdf5.a"

    def shared(self) -> Path:
        folder = HDF5.prefix / "lib"
        return self._compiled("shared", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lhdf5")

    def static(self, name: str, *flags: str) -> Path:
        if not self._archive.exists():
            build = ROOT / "build/hdf5" / HDF5.name / "build/src/CMakeFiles"
            objects = sorted(build.rglob("*.o"))
            assert objects, f"{build} has no objects: `make test` builds HDF5"
            call("ar", "rcs", self._archive, *objects)
        whole = ["-Wl,--whole-archive", str(self._archive), "-Wl,--no-whole-archive"]
        archive = whole if "whole" in name else [str(self._archive)]
        return self._compiled(name, *flags, *archive, *_LIBRARIES)

    def _compiled(self, name: str, *link: str) -> Path:
        program = self._folder / name
        if not program.exists():
            source: list[str | Path] = [f"-I{HDF5.prefix / 'include'}", HERE / "writes.c"]
            call("mpicc.openmpi", "-O1", *source, "-o", program, *link)
        return program
