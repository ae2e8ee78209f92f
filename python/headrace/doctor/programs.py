"""Which program a command starts in the end, and whether its HDF5 can load plug-ins at all."""

import contextlib
import json
import os
import re
import select
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from headrace.doctor.executable import Embedded, find_embedded, is_static, loader_of

_LAUNCHERS: Final = ("mpirun", "mpiexec", "orterun", "prun", "srun", "aprun", "jsrun", "ibrun")
_WRAPPERS: Final = (
    "env", "nice", "nohup", "time", "timeout", "numactl", "taskset", "stdbuf", "setarch", "ionice",
)  # fmt: skip
_MOST_WRAPPERS: Final = 8
oldest_usable: Final = (1, 14)
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


def past_launchers(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The words from the program on: past MPI launchers, `env` and its like, and their options."""
    words = list(command)
    for _ in range(_MOST_WRAPPERS):
        if not words or not (is_mpi_launcher(words[0]) or Path(words[0]).name in _WRAPPERS):
            break
        # Options and what belongs to them are not the names of programs.
        rest = words[1:]
        named = (i for i, word in enumerate(rest) if _find(word, environ) is not None)
        words = rest[next(named, len(rest)) :]
    return words


def target(command: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    """The file that runs in the end: past MPI launchers, `env` and its like, and "#!" lines."""
    words = list(command)
    for _ in range(_MOST_WRAPPERS):
        words = past_launchers(words, environ)
        file = _find(words[0], environ) if words else None
        if file is None:
            return None
        interpreter = _interpreter(file)
        if interpreter is None:
            return file
        words = [*interpreter, str(file)]
    return None


def obstacle(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Why no HDF5 of a program can load plug-ins, and what to do; None when one perhaps can."""
    file = target(command, environ)
    if file is None:
        return None
    if embedded := find_embedded([file]):
        return _hidden(embedded[0], static=is_static(file))
    copies = linked_hdf5(file, environ)
    if not copies or not all(is_too_old(copy.version) for copy in copies):
        return None
    return too_old(str(copies[0].file), copies[0].version, newer_build)


def obstacle_in_python(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The same of h5py, netCDF4 and PyTables, when the program is a Python."""
    python = target(command, environ)
    if python is None or not python.name.startswith("python"):
        return None
    import subprocess  # noqa: PLC0415, takes its time to import

    try:
        words = [str(python), "-c", _FIND, *_MODULES]
        done = subprocess.run(
            words, env=dict(environ), capture_output=True, check=True, timeout=_PATIENCE
        )
        folders = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return _obstacle_in(folders, python, environ)


def obstacle_here(environ: Mapping[str, str]) -> str | None:
    """The same of this Python, in which none of them is imported for it."""
    import importlib.util  # noqa: PLC0415
    import sys  # noqa: PLC0415

    specs = {name: importlib.util.find_spec(name) for name in _MODULES}
    folders = {
        name: Path(spec.origin).parent for name, spec in specs.items() if spec and spec.origin
    }
    return _obstacle_in(folders, Path(sys.executable), environ)


def _obstacle_in(
    folders: Mapping[str, str | Path], python: Path, environ: Mapping[str, str]
) -> str | None:
    copies = [
        (name, each)
        for name, folder in folders.items()
        for each in _hdf5_of_module(Path(folder), python, environ)
    ]
    if not copies or not all(is_too_old(copy.version) for _, copy in copies):
        return None
    name, copy = copies[0]
    advice = f"install a newer {name} (`pip install --upgrade {name}`)"
    return too_old(str(copy.file), copy.version, advice)


def number_of(version: str | None) -> tuple[int, ...]:
    """A version to compare; empty when it is unknown."""
    parts = (version or "").split("-")[0].split(".")
    return tuple(int(part) for part in parts) if all(p.isdigit() for p in parts) else ()


def is_too_old(version: str | None) -> bool:
    """Whether this HDF5 cannot load our plug-ins."""
    number = number_of(version)
    return bool(number) and number < oldest_usable


def too_old(path: str, version: str | None, advice: str) -> str:
    """The sentence for it."""
    return (
        f"{path} is HDF5 {version}, and Headrace needs 1.14 or newer: "
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
        listed = _output([str(loader), "--list", str(file)], environ)
    except OSError:
        return []
    named = _LIBRARY.findall(os.fsdecode(listed))
    paths = [Path(os.path.normpath(name)) for name in named]
    return find_embedded(path for path in paths if "hdf5" in path.name)


def _output(command: list[str], environ: Mapping[str, str]) -> bytes:
    """What a command prints. `subprocess` takes longer to import than the rest of a plain start."""
    reading, writing = os.pipe()
    # Closed by the program's start, as all that Python opens.
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    try:
        child = os.posix_spawn(command[0], command, environ, file_actions=streams)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    found = b""
    while select.select([reading], [], [], _PATIENCE)[0] and (part := os.read(reading, 65536)):
        found += part
    os.close(reading)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # its output has ended, or is waited for in vain
    os.waitpid(child, 0)
    return found


def _hidden(embedded: Embedded, *, static: bool) -> str | None:
    file, version = str(embedded.file), embedded.version
    if static or not embedded.exported:
        return hidden(file, version)
    return too_old(file, version, newer_build) if is_too_old(version) else None


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
    folders = [""] if "/" in word else os.get_exec_path(environ)
    files = (Path(folder, word) for folder in folders)
    found = (file for file in files if os.access(file, os.X_OK) and file.is_file())
    return next((file.absolute() for file in found), None)


def _interpreter(file: Path) -> list[str] | None:
    """The words of a script's first line."""
    try:
        with file.open("rb") as stream:
            line = stream.readline(256)
    except OSError:
        return None
    words = line[2:].decode("utf-8", "surrogateescape").split()
    return words if line.startswith(b"#!") and words else None
