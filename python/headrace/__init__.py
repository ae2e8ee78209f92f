"""Headrace: the I/O of any HDF5 program made faster and visible, without touching the program.

    import headrace
    headrace.enable()            # the stack "async"; before h5py or netCDF4 is imported
    import h5py

The same from outside: ``headrace run -- python program.py``.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from headrace.operations.boxes import write_n
    from headrace.operations.calls import CallError
    from headrace.operations.control import Progress, pause, paused, progress, resume, wait, why_not
    from headrace.operations.pieces import Subfile, fuse, fuse_when_closed, subfiles
    from headrace.operations.prefetch import Prefetch, prefetch
    from headrace.operations.take import take
    from headrace.plugins import include_path, plugin_path

__version__ = "0.1.0"

__all__ = [
    "AlreadyInitialisedError",
    "CallError",
    "ConfigError",
    "HeadraceError",
    "PluginError",
    "Prefetch",
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
    "prefetch",
    "progress",
    "resume",
    "settings",
    "subfiles",
    "take",
    "wait",
    "why_not",
    "write_n",
]

# Imported when they are first asked for: `headrace run` needs few of them, and starts often.
_NAMES = {
    "errors": (
        "AlreadyInitialisedError",
        "ConfigError",
        "HeadraceError",
        "PluginError",
        "SettingError",
        "SpecError",
    ),
    "inprocess": ("enable",),
    "operations.boxes": ("write_n",),
    "operations.calls": ("CallError",),
    "operations.control": ("Progress", "pause", "paused", "progress", "resume", "wait", "why_not"),
    "operations.pieces": ("Subfile", "fuse", "fuse_when_closed", "subfiles"),
    "operations.prefetch": ("Prefetch", "prefetch"),
    "operations.take": ("take",),
    "plugins": ("include_path", "plugin_path"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "settings":
        return importlib.import_module("headrace.settings")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"headrace.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
