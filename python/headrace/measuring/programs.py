"""Finding headrace-bench, a libhdf5 for it, and the MPI launcher that fits that."""

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.doctor import modules
from headrace.errors import HeadraceError
from headrace.inspection import inspect
from headrace.plugins import library_dir

_OLDEST: Final = (1, 14)
_PLACES: Final = (
    "/usr/local/lib/libhdf5.so", "/usr/local/hdf5/lib/libhdf5.so", "/opt/hdf5*/lib/libhdf5.so",
    "/usr/lib64/libhdf5.so*", "/usr/lib/*/libhdf5*.so*", "/usr/lib/*/hdf5/*/libhdf5.so",
)  # fmt: skip
# Prints the names of all that came with a library, which may be linked with MPI through others.
_LOADED: Final = """
import ctypes, os, sys
ctypes.CDLL(sys.argv[1], os.RTLD_LAZY)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "/" in line}, sep="\\n")
"""


class ProgramError(HeadraceError):
    """A program or library that a run needs is missing or does not fit."""


@dataclass(frozen=True, slots=True)
class Library:
    """A libhdf5. `mpi` is "openmpi", "mpich" or ""."""

    file: Path
    version: str
    parallel: bool
    mpi: str = ""


def bench(given: Path | None, name: str = "headrace-bench") -> Path:
    """The executable; ProgramError when there is none."""
    file = library_dir().parent / "bin" / name if given is None else given.absolute()
    if not os.access(file, os.X_OK) or file.is_dir():
        raise ProgramError(
            f"{name} is not there: looked for {file}; `pip install .` in a checkout builds and "
            "installs it, `cmake --build --preset dev` builds it for use in the checkout"
        )
    return file


def hdf5(given: Path | None, *, parallel: bool) -> Library:
    """The libhdf5 to run on: the one given, else that of h5py, else one of the system."""
    if given is not None:
        return _given(given.absolute(), parallel=parallel)
    seen = []
    for file in dict.fromkeys(_candidates(parallel=parallel)):
        (answer,) = inspect([("hdf5", file)])
        if answer.value is None:
            continue
        version = str(answer.value["version"])
        seen.append(f"{file} (HDF5 {version}, {_kind(parallel=answer.value['parallel'])})")
        if _number(version) >= _OLDEST and answer.value["parallel"] >= parallel:
            return _library(file, version, parallel=bool(answer.value["parallel"]))
    reason = "more than one rank needs a parallel" if parallel else "there is no"
    found = f"; found only {', '.join(seen)}" if seen else ""
    raise ProgramError(
        f"{reason} libhdf5 of version 1.14 or newer{found}; name one: "
        "--hdf5 /path/to/lib/libhdf5.so"
    )


def _given(file: Path, *, parallel: bool) -> Library:
    if not file.is_file():
        raise ProgramError(f"--hdf5 {file}: there is no such file")
    (answer,) = inspect([("hdf5", file)])
    if answer.value is None:
        raise ProgramError(f"--hdf5 {file}: {answer.error}")
    version = str(answer.value["version"])
    if _number(version) < _OLDEST:
        raise ProgramError(f"--hdf5 {file} is HDF5 {version}; it must be 1.14 or newer")
    if parallel and not answer.value["parallel"]:
        raise ProgramError(
            f"--hdf5 {file} is a serial build; more than one rank needs a parallel one"
        )
    return _library(file, version, parallel=bool(answer.value["parallel"]))


def _library(file: Path, version: str, *, parallel: bool) -> Library:
    return Library(file, version, parallel, _mpi(file) if parallel else "")


def _candidates(*, parallel: bool) -> Iterator[Path]:
    if not parallel:
        yield from (Path(copy.path) for copy in modules.examine("h5py", None).copies)
    for variable in ("HDF5_DIR", "HDF5_ROOT", "HDF5_HOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable], "lib/libhdf5.so")
    for place in _PLACES:
        yield from map(Path, sorted(glob.glob(place)))  # noqa: PTH207, whole patterns


def _number(version: str) -> tuple[int, ...]:
    parts = version.split("-", maxsplit=1)[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _kind(*, parallel: bool) -> str:
    return "parallel" if parallel else "serial"


def _mpi(file: Path) -> str:
    """Whose MPI a library is linked with; a process of its own loads it."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LOADED, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = [Path(line).name for line in done.stdout.splitlines()]
    if any(name.startswith(("libmpich", "libmpi.so.12")) for name in loaded):
        return "mpich"
    return (
        "openmpi" if any(name.startswith(("libopen-pal", "libmpi.so")) for name in loaded) else ""
    )


def launcher(given: Sequence[str], library: Library) -> tuple[str, ...]:
    """The command to start MPI programs of this library with; ProgramError when there is none."""
    if given:
        if shutil.which(given[0]) is None:
            raise ProgramError(f"--mpiexec {given[0]}: command not found")
        return tuple(given)
    names = [f"mpiexec.{library.mpi}"] if library.mpi else []
    for name in [*names, "mpiexec", "mpirun"]:
        if shutil.which(name) is not None:
            return (name,)
    raise ProgramError(
        f"no MPI launcher found ({', '.join([*names, 'mpiexec'])}); install one or name it: "
        "--mpiexec COMMAND"
    )


def mpi_version(command: Sequence[str]) -> str:
    """The first line of what a launcher says of itself."""
    done = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=False)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    version = next((line for line in lines if line.startswith("Version")), "")
    return f"{lines[0]} {version}".strip() if lines else "unknown"
