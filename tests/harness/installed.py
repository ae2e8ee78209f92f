"""The package that tests run, and what mends one that was made for less."""

from __future__ import annotations

from pathlib import Path

from harness.prefix import MATRIX, Hdf5
from headrace.errors import PluginError
from headrace.plugins import library_dir


def lacking(libraries: Path | None = None) -> str:
    """Empty, or what is missing: modules are, in a package that was made without MPI."""
    try:
        folder = libraries or library_dir()
    except PluginError as error:
        return f"run `make setup-test`: {error}"
    modules = [f"libheadrace_mpi_{Hdf5(name).mpi}.so" for name in MATRIX]
    missing = [module for module in modules if not (folder / module).exists()]
    return f"run `make setup-test`: {folder} is without {', '.join(missing)}" if missing else ""
