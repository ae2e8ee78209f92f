"""Headrace: the I/O of any HDF5 program made faster and visible, without touching the program.

    import headrace
    headrace.enable("null")      # before h5py or netCDF4 is imported
    import h5py

The same from outside: ``headrace run --stack null -- python program.py``.
"""

from headrace import settings
from headrace.errors import (
    AlreadyInitialisedError,
    ConfigError,
    HeadraceError,
    PluginError,
    SettingError,
    SpecError,
)
from headrace.inprocess import enable
from headrace.plugins import plugin_path

__version__ = "0.1.0"

__all__ = [
    "AlreadyInitialisedError",
    "ConfigError",
    "HeadraceError",
    "PluginError",
    "SettingError",
    "SpecError",
    "__version__",
    "enable",
    "plugin_path",
    "settings",
]
