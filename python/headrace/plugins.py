"""Where the plug-ins are, what they say of themselves, and whether they can be loaded."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import headrace
from headrace import catalogue
from headrace.catalogue import Catalogue
from headrace.errors import PluginError
from headrace.inspection import inspect

search_variable: Final = "HDF5_PLUGIN_PATH"

_CORE: Final = "libheadrace_core.so"
_PATTERN: Final = "libheadrace_*.so"
# H5PL_type_t of HDF5.
plugin_types: Final = {1: "VOL connector", 2: "virtual file driver"}
# Where libhdf5 looks when HDF5_PLUGIN_PATH is unset: that is built into it. These are the places of
# its own build, of the wheels of h5py and netCDF4, and of Conda.
_HDF5_DEFAULTS: Final = (
    "/usr/local/lib/plugin",
    "/usr/local/hdf5/lib/plugin",
    "/usr/local/lib/hdf5/plugin",
    f"{sys.prefix}/lib/hdf5/plugin",
)


def library_dir() -> Path:
    """The directory of libheadrace_core.so; PluginError when it is not installed."""
    candidates = [Path(directory) / "lib" for directory in headrace.__path__]
    # A checkout that is used without being installed.
    candidates += [Path(directory).parents[1] / "build/dev/lib" for directory in headrace.__path__]
    for candidate in candidates:
        if (candidate / _CORE).is_file():
            return candidate.resolve()
    raise PluginError(
        f"the plug-ins are not installed: {_CORE} is not in {candidates[0]}; "
        "`pip install .` in a checkout builds and installs them"
    )


def plugin_path() -> Path:
    """The directory to name in HDF5_PLUGIN_PATH."""
    return library_dir() / "plugins"


def mpi_modules() -> tuple[str, ...]:
    """The kinds of MPI whose programs the layers can work together in: openmpi, mpich."""
    files = library_dir().glob("libheadrace_mpi_*.so")
    return tuple(sorted(file.stem.removeprefix("libheadrace_mpi_") for file in files))


def include_path() -> Path:
    """The directory for a C compiler's `-I`: it has `headrace/async.h` in it."""
    candidates = [Path(directory) / "include" for directory in headrace.__path__]
    # A checkout that is used without being installed.
    candidates += [Path(directory).parents[1] / "include" for directory in headrace.__path__]
    for candidate in candidates:
        if (candidate / "headrace/async.h").is_file():
            return candidate.resolve()
    raise PluginError(f"the headers are not installed: {candidates[0]} is not there")


def search_path(environ: Mapping[str, str]) -> str:
    """The value of HDF5_PLUGIN_PATH: our directory first, then all that would be searched anyway.

    Setting the variable hides libhdf5's built-in directories; they are put back here, or files
    would become unreadable. It also keeps netCDF4 from naming its own filters in it; the plug-ins
    put those back, in netCDF4's library only.
    """
    own = str(plugin_path())
    if ":" in own:
        raise PluginError(f"{own}: HDF5 cannot search a directory with ':' in its name")
    inherited = environ.get(search_variable)
    others = _defaults() if inherited is None else _entries(inherited)
    return ":".join([own, *(entry for entry in others if entry != own)])


def search_path_without_ours(environ: Mapping[str, str]) -> str | None:
    """The reverse: the value as it was; None where the variable was not set."""
    own, inherited = str(plugin_path()), environ.get(search_variable)
    entries = _entries(inherited or "")
    others = [entry for entry in entries if entry != own]
    if len(others) == len(entries):
        return inherited
    return None if others in ([], _defaults()) else ":".join(others)


def _defaults() -> list[str]:
    return [directory for directory in _HDF5_DEFAULTS if Path(directory).is_dir()]


def _entries(value: str) -> list[str]:
    return [entry for entry in value.split(":") if entry]


def load_catalogue(environ: Mapping[str, str]) -> Catalogue:
    """All layers that are installed, ours and those in HDF5_PLUGIN_PATH.

    A foreign plug-in that cannot be read is left out and listed under `problems`; trouble with our
    own core is a PluginError.
    """
    core = library_dir() / _CORE
    (answer,) = inspect([("describe", core)], environ)
    if answer.error is not None or answer.value is None:
        raise PluginError(f"{core}: {answer.error or 'it exports no headrace_describe'}")
    own = catalogue.from_description(answer.value, plugin_path())
    extras, problems = _describe_extras(_extra_files(environ, own), environ)
    return catalogue.merge([own, *extras], problems)


def _extra_files(environ: Mapping[str, str], own: Catalogue) -> list[Path]:
    """Plug-ins of our kind that the core does not describe, in HDF5's order of search."""
    known = {
        seat.file
        for layer in own.layers.values()
        for seat in (layer.vol, layer.vfd, layer.vfd_mpi)
        if seat
    }
    directories = [str(plugin_path()), *_entries(environ.get(search_variable, ""))]
    return [
        file
        for directory in dict.fromkeys(directories)
        for file in sorted(Path(directory).glob(_PATTERN))
        if file not in known and file.name != _CORE
    ]


def _describe_extras(
    files: list[Path], environ: Mapping[str, str]
) -> tuple[list[Catalogue], list[str]]:
    found: list[Catalogue] = []
    problems: list[str] = []
    answers = inspect([("describe", file) for file in files], environ)
    for file, answer in zip(files, answers, strict=True):
        if answer.error is not None or answer.value is None:
            problems.append(f"{file}: {answer.error or 'it exports no headrace_describe'}")
            continue
        try:
            found.append(catalogue.from_description(answer.value, file.parent))
        except PluginError as error:
            problems.append(f"{file}: {error}")
    return found, problems


def check_files(files: Iterable[tuple[Path, int]], environ: Mapping[str, str]) -> None:
    """Raises PluginError unless each (file, type) exists, can be loaded and is of its type.

    h5py crashes when a connector cannot be loaded, so this has to be known before a program starts.
    """
    wanted = list(dict.fromkeys(files))
    for file, _ in wanted:
        if not file.is_file():
            raise PluginError(f"plug-in {file} is missing")
        if not os.access(file, os.R_OK):
            raise PluginError(f"plug-in {file} may not be read")
    answers = inspect([("plugin_type", file) for file, _ in wanted], environ)
    for (file, expected), answer in zip(wanted, answers, strict=True):
        if answer.error is not None:
            raise PluginError(f"plug-in {file} cannot be loaded: {answer.error}")
        if answer.value != expected:
            actual = plugin_types.get(answer.value, f"plug-in of type {answer.value}")
            raise PluginError(f"plug-in {file} is a {actual}, not a {plugin_types[expected]}")
