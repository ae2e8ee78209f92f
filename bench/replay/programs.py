"""Programs that people install, and what they work on.

nc3tonc4 comes with netCDF4, ptrepack with PyTables; rewrite.py is the demonstration's, with h5py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import netCDF4
import numpy as np
import tables
from bench.common.session import ROOT
from demo import rewrite, sample

_STEPS, _ROWS, _COLUMNS = 40, 181, 360  # a degree and a day
_PARTICLES = 500_000


def command(name: str, inputs: Path, output: Path) -> list[str]:
    """Its command line. What it reads is made in `inputs`, natively, where it is not there."""
    return _COMMANDS[name](inputs, output)


def _nc3tonc4(inputs: Path, output: Path) -> list[str]:
    path = inputs / "days.nc"
    if not path.exists():
        _make_days(path)
    return [str(Path(sys.executable).with_name("nc3tonc4")), "--quiet=1", str(path), str(output)]


def _make_days(path: Path) -> None:
    """A classic netCDF file, which HDF5 has no part in."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        for name, size in (("time", None), ("lat", _ROWS), ("lon", _COLUMNS)):
            file.createDimension(name, size)
        angle = np.linspace(0, 20, _ROWS * _COLUMNS, dtype="f4").reshape(_ROWS, _COLUMNS)
        for name in ("ts", "psl", "pr"):
            variable = file.createVariable(name, "f4", ("time", "lat", "lon"))
            variable.units = "1"
            for step in range(_STEPS):
                variable[step] = np.round(np.sin(angle + step), 3)


def _ptrepack(inputs: Path, output: Path) -> list[str]:
    path = inputs / "particles.h5"
    if not path.exists():
        particles = np.zeros(_PARTICLES, [("id", "i8"), ("x", "f4"), ("y", "f4"), ("kind", "S4")])
        particles["id"] = np.arange(_PARTICLES)
        particles["x"] = np.round(np.sin(particles["id"] / 100), 2)
        with tables.open_file(path, "w") as file:
            file.create_table("/", "particles", particles)
            file.create_earray("/", "energy", obj=np.cos(particles["id"] / 1000))
    program = str(Path(sys.executable).with_name("ptrepack"))
    return [program, "--complevel=1", "--complib=zlib", f"{path}:/", f"{output}:/"]


def _rewrite(_inputs: Path, output: Path) -> list[str]:
    source = sample.fetch(ROOT / "build" / "demo")
    return [sys.executable, rewrite.__file__, str(source), str(output)]


_COMMANDS = {"nc3tonc4": _nc3tonc4, "ptrepack": _ptrepack, "rewrite": _rewrite}
