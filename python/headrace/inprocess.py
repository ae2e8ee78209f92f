"""headrace.enable(): the effect of `headrace run` from inside a Python program."""

import os
import sys
import warnings
from dataclasses import dataclass

from headrace import plan as planning
from headrace.catalogue import Catalogue
from headrace.config import Config
from headrace.doctor.programs import obstacle_here
from headrace.errors import AlreadyInitialisedError, SettingError
from headrace.libraries import loaded_hdf5
from headrace.plan import Plan
from headrace.plugins import load_catalogue, plugin_path, search_variable
from headrace.spec import parse


@dataclass(slots=True)
class _State:
    """The plan in force in this process, if one is."""

    plan: Plan | None = None


_state = _State()


def enable(spec: str | None = None, /, **settings: object) -> None:
    """Puts a stack under all HDF5 files that this process will open.

    Call it before ``import h5py`` or ``import netCDF4``, which start HDF5:

        import headrace
        headrace.enable("async", log_level="info")
        import h5py

    Doing it again with the same arguments does nothing. Child processes inherit the stack. With
    HEADRACE=off in the environment it does nothing at all.

    Args:
        spec: The layers from the application downwards, as for ``headrace run --stack``; without
            them those in HEADRACE_STACK, else ``async``.
        settings: Settings by their Python names, as ``headrace settings`` lists them: sizes in
            bytes or as text like "512MiB", durations in nanoseconds or as text like "20ms".

    Raises:
        SpecError: The specification is malformed or names what does not exist.
        SettingError: A setting does not exist or does not take its value.
        PluginError: A plug-in of the stack is missing or cannot be loaded.
        AlreadyInitialisedError: A libhdf5 in this process has read its environment already.
    """
    environ = os.environ
    if environ.get(planning.switch_variable) == planning.switched_off:
        return
    catalogue = load_catalogue(environ)
    taken = planning.chosen(spec, Config(), environ)
    new = planning.build(spec, _config(taken, settings, catalogue), environ, catalogue)
    if _in_force(new):
        return
    started = [library.file for library in loaded_hdf5() if library.initialised]
    if started:
        raise AlreadyInitialisedError(
            f"HDF5 is initialised already, in {', '.join(map(str, started))}; {_remedy()}"
        )
    for name in new.remove:
        environ.pop(name, None)
    environ.update(new.assign)
    _state.plan = new
    if new.stack.layers and (text := obstacle_here(environ)):
        warnings.warn(text, stacklevel=2)


def _remedy() -> str:
    enabling = "headrace.enable() before `import h5py` (and `import netCDF4`), which initialise it"
    if "ipykernel" in sys.modules:
        return f"restart the kernel, and in the first cell that you run call {enabling}"
    return f"call {enabling}, or start the program with `headrace run`"


def _in_force(new: Plan) -> bool:
    """Whether this process has this stack already: from enable(), or from `headrace run`."""
    earlier = planning.initial_environment() if _state.plan is None else _state.plan.assign
    if any(name in earlier for name in new.remove):
        return False
    # Packages that bring filters of their own add to the plug-in path when they are imported.
    if new.stack.layers and str(plugin_path()) not in earlier.get(search_variable, "").split(":"):
        return False
    rest = (name for name in new.assign if name != search_variable)
    return all(earlier.get(name) == new.assign[name] for name in rest)


def _config(spec: str, settings: dict[str, object], catalogue: Catalogue) -> Config:
    """Keyword arguments as a configuration file would hold them."""
    used = {layer.name for layer in parse(spec)}
    globals_: dict[str, str] = {}
    layers: dict[str, dict[str, str]] = {}
    for name, value in settings.items():
        row = catalogue.settings.by_python_name(name)
        text = row.to_text(value, name)
        if not row.layer:
            globals_[row.env] = text
        elif row.layer in used:
            layers.setdefault(row.layer, {})[row.option] = text
        else:
            raise SettingError(f"setting {name}: layer {row.layer} is not in the stack {spec!r}")
    return Config(settings=globals_, layers=layers)
