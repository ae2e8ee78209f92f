"""Headrace: the I/O of any HDF5 program made faster and visible, without touching the program.

    import headrace
    headrace.enable()            # the stack "async"; before h5py or netCDF4 is imported
    import h5py

The same from outside: ``headrace run -- python program.py``.
"""

from headrace import settings
from headrace.boxes import write_n
from headrace.calls import CallError
from headrace.control import Progress, pause, paused, progress, resume, wait, why_not
from headrace.errors import (
    AlreadyInitialisedError,
    ConfigError,
    HeadraceError,
    PluginError,
    SettingError,
    SpecError,
)
from headrace.inprocess import enable
from headrace.pieces import Subfile, fuse, fuse_when_closed, subfiles
from headrace.plugins import include_path, plugin_path

__version__ = "0.1.0"

__all__ = [
    "AlreadyInitialisedError",
    "CallError",
    "ConfigError",
    "HeadraceError",
    "PluginError",
    "Progress",
    "SettingError",
    "SpecError",
    "Subfile",
    "__version__",
    "enable",
    "fuse",
    "fuse_when_closed",
    "include_path",
    "pause",
    "paused",
    "plugin_path",
    "progress",
    "resume",
    "settings",
    "subfiles",
    "wait",
    "why_not",
    "write_n",
]
