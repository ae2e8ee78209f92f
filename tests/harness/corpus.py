"""Build and run the generator of sample files (tests/corpus), natively or under a stack."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.prefix import ROOT, Hdf5
from harness.report import Report
from harness.run import Command, run
from harness.stack import CLEAN, stack_env

SOURCES = ROOT / "tests/corpus"
PYTHONPATH = os.pathsep.join(filter(None, [str(ROOT / "tests"), CLEAN.get("PYTHONPATH")]))


def compile_c(folder: Path, name: str, *command: str | Path) -> Path:
    built = folder / name
    done = run([*command, "-o", built], env=CLEAN, cwd=folder, limit=120)
    assert done.status == 0, done.text
    return built


def compile_preload(folder: Path, source: Path) -> Path:
    """A library for LD_PRELOAD, which stands between a program and the system."""
    flags = ["-shared", "-fPIC", "-O1", "-D_GNU_SOURCE"]
    return compile_c(folder, f"{source.stem}.so", "gcc", *flags, source, "-ldl")


def build_clock(folder: Path) -> Path:
    return compile_preload(folder, SOURCES / "frozen_clock.c")


def build_forge(hdf5: Hdf5, folder: Path) -> Path:
    flags = [f"-I{hdf5.prefix}/include", f"-L{hdf5.prefix}/lib", f"-Wl,-rpath,{hdf5.prefix}/lib"]
    compiler = f"mpicc.{hdf5.mpi}"  # HDF5's headers want MPI's
    return compile_c(folder, "forge", compiler, SOURCES / "forge.c", *flags, "-lhdf5")


def generate(forge: Path, clock: Path, spec: str, folder: Path) -> Report:
    """Fill `folder`; the report says what our plug-ins saw of it."""
    folder.mkdir()
    report = folder.with_suffix(".jsonl")
    frozen = {"LD_PRELOAD": str(clock), "PYTHONPATH": PYTHONPATH}
    commands: list[Command] = [[sys.executable, "-m", "corpus", folder], [forge, folder]]
    for command in commands:
        done = run(command, env=stack_env(spec, report, **frozen), cwd=folder, limit=120)
        assert done.status == 0, f"under {spec}: {done.text}"
    return Report(report)


def openable(files: list[Path], altered: Path | None = None) -> set[str]:
    """The names of the files that open natively, by default; altered copies go to `altered`."""
    command = [sys.executable, "-m", "corpus.change", altered or "-", *files]
    done = run(command, env={**CLEAN, "PYTHONPATH": PYTHONPATH}, cwd=ROOT, limit=120)
    assert done.status == 0, done.text
    return set(done.out.decode().split())
