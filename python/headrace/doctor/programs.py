"""Which program a command starts in the end, and whether its HDF5 can load plug-ins at all."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from headrace.doctor.diagnose import oldest_usable
from headrace.doctor.evidence import Copy
from headrace.doctor.executable import Embedded, find_embedded, is_static, loader_of

_LAUNCHERS: Final = ("mpirun", "mpiexec", "orterun", "prun", "srun", "aprun", "jsrun", "ibrun")
_WRAPPERS: Final = (
    "env", "nice", "nohup", "time", "timeout", "numactl", "taskset", "stdbuf", "setarch", "ionice",
)  # fmt: skip
_MOST_WRAPPERS: Final = 8
newer_build: Final = "take a build of the program with a newer one"

_MODULES: Final = ("h5py", "netCDF4", "tables")
_FIND: Final = """
import importlib.util, json, os, sys
found = {name: importlib.util.find_spec(name) for name in sys.argv[1:]}
folders = {name: os.path.dirname(spec.origin) for name, spec in found.items() if spec}
print(json.dumps(folders))
"""
# "libc.so.6 => /lib/libc.so.6 (0x00007f0000000000)", or only the path
_LIBRARY: Final = re.compile(r"^\s*(?:.* => )?(/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)
_PATIENCE: Final = 20  # seconds, and then the program starts whatever it is


def is_mpi_launcher(program: str) -> bool:
    """Whether this starts processes on several machines, perhaps."""
    return Path(program).name.split(".")[0] in _LAUNCHERS


def target(command: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    """The file that runs in the end: past MPI launchers, `env` and its like, and "#!" lines."""
    words = list(command)
    for _ in range(_MOST_WRAPPERS):
        file = _find(words[0], environ) if words else None
        if file is None:
            return None
        if is_mpi_launcher(words[0]) or Path(words[0]).name in _WRAPPERS:
            # Options and what belongs to them are not the names of programs.
            rest = words[1:]
            named = (i for i, word in enumerate(rest) if _find(word, environ) is not None)
            words = rest[next(named, len(rest)) :]
        elif (interpreter := _interpreter(file)) is not None:
            words = [*interpreter, str(file)]
        else:
            return file
    return None


def obstacle(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Why no HDF5 of a program can load plug-ins, and what to do; None when one perhaps can."""
    file = target(command, environ)
    if file is None:
        return None
    if embedded := find_embedded([file]):
        return _hidden(embedded[0], static=is_static(file))
    copies = [Copy(str(each.file), each.version) for each in linked_hdf5(file, environ)]
    if not copies or not all(is_too_old(copy) for copy in copies):
        return None
    return too_old(copies[0], newer_build)


def obstacle_in_python(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The same of h5py, netCDF4 and PyTables, when the program is a Python."""
    python = target(command, environ)
    if python is None or not python.name.startswith("python"):
        return None
    try:
        words = [str(python), "-c", _FIND, *_MODULES]
        done = subprocess.run(
            words, env=dict(environ), capture_output=True, check=True, timeout=_PATIENCE
        )
        folders = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    copies = [
        (name, Copy(str(each.file), each.version))
        for name, folder in folders.items()
        for each in _hdf5_of_module(Path(folder), python, environ)
    ]
    if not copies or not all(is_too_old(copy) for _, copy in copies):
        return None
    name, copy = copies[0]
    return too_old(copy, f"install a newer {name} (`pip install --upgrade {name}`)")


def is_too_old(copy: Copy) -> bool:
    """Whether this HDF5 cannot load our plug-ins."""
    return bool(copy.number()) and copy.number() < oldest_usable


def too_old(copy: Copy, advice: str) -> str:
    """The sentence for it."""
    return (
        f"{copy.path} is HDF5 {copy.version}, and Headrace needs 1.14 or newer: "
        f"it runs natively, without any layer; {advice}"
    )


def hidden(file: str, version: str) -> str:
    """The sentence for a program that HDF5 is linked into and that does not export it."""
    return (
        f"{file} has HDF5 {version} linked into it statically and hides its functions from "
        "plug-ins: it runs natively, without any layer; link it with a shared libhdf5"
    )


def linked_hdf5(
    file: Path, environ: Mapping[str, str], loader: Path | None = None
) -> list[Embedded]:
    """The copies of libhdf5 that the dynamic loader would load for an ELF file."""
    loader = loader_of(file) if loader is None else loader
    if loader is None:
        return []
    try:
        done = subprocess.run(
            [str(loader), "--list", str(file)],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    named = _LIBRARY.findall(os.fsdecode(done.stdout))
    paths = [Path(os.path.normpath(name)) for name in named]
    return find_embedded(path for path in paths if "hdf5" in path.name)


def _hidden(embedded: Embedded, *, static: bool) -> str | None:
    copy = Copy(str(embedded.file), embedded.version)
    if static or not embedded.exported:
        return hidden(copy.path, embedded.version)
    return too_old(copy, newer_build) if is_too_old(copy) else None


def _hdf5_of_module(folder: Path, python: Path, environ: Mapping[str, str]) -> list[Embedded]:
    """Of the first of its extension modules that is linked with one."""
    loader = loader_of(python)
    for file in sorted(folder.glob("*.so"))[:8]:
        if found := linked_hdf5(file, environ, loader):
            return found
    return []


def _find(word: str, environ: Mapping[str, str]) -> Path | None:
    if word.startswith("-"):
        return None
    found = shutil.which(word, path=environ.get("PATH"))
    return None if found is None else Path(found).absolute()


def _interpreter(file: Path) -> list[str] | None:
    """The words of a script's first line."""
    try:
        with file.open("rb") as stream:
            line = stream.readline(256)
    except OSError:
        return None
    words = line[2:].decode("utf-8", "surrogateescape").split()
    return words if line.startswith(b"#!") and words else None
