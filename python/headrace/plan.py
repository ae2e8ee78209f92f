"""What a stack changes in the environment of a program: the one source of run, env and enable()."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from headrace import config as configuration
from headrace.catalogue import Catalogue
from headrace.config import Config
from headrace.errors import PluginError, SettingError, SpecError
from headrace.plugins import (
    check_files,
    load_catalogue,
    search_path,
    search_path_without_ours,
    search_variable,
)
from headrace.stack import NATIVE, Stack, resolve

default_stack: Final = "async"
stack_variable: Final = "HEADRACE_STACK"
switch_variable: Final = "HEADRACE"
switched_off: Final = "off"
connector_variable: Final = "HDF5_VOL_CONNECTOR"
driver_variables: Final = ("HDF5_DRIVER", "HDF5_DRIVER_CONFIG")
# Set to this, HDF5 loads no plug-ins at all.
preload_variable: Final = "HDF5_PLUGIN_PRELOAD"
preload_disables: Final = "::"

_OUR_CLASSES: Final = "headrace_"


class Plan(NamedTuple):
    """A checked stack and the variables to set and to remove for it."""

    spec: str
    stack: Stack
    assign: Mapping[str, str]
    remove: tuple[str, ...]
    # What a user may not expect, one sentence each.
    warnings: tuple[str, ...]

    def apply(self, environ: Mapping[str, str]) -> dict[str, str]:
        """`environ` with the changes made."""
        kept = {name: text for name, text in environ.items() if name not in self.remove}
        return kept | dict(self.assign)


def prepare(
    spec: str | None,
    config_file: str | os.PathLike[str] | None,
    environ: Mapping[str, str],
    catalogue: Catalogue | None = None,
) -> Plan:
    """Checks everything that can be checked before a program starts; raises HeadraceError."""
    if environ.get(switch_variable) == switched_off:
        return off(environ)
    known = load_catalogue(environ) if catalogue is None else catalogue
    config = Config() if config_file is None else configuration.load(config_file, known)
    return build(spec, config, environ, known)


def chosen(spec: str | None, config: Config, environ: Mapping[str, str]) -> str:
    """The stack that counts: the one given, the configuration's, the environment's, or `async`."""
    if spec is not None:
        return spec
    return config.stack or environ.get(stack_variable) or default_stack


def build(
    spec: str | None, config: Config, environ: Mapping[str, str], catalogue: Catalogue
) -> Plan:
    """The same from a configuration that has been read."""
    in_force = catalogue.settings.from_environment(environ)
    taken = chosen(spec, config, environ)
    try:
        stack = resolve(taken, catalogue, config.layers, in_force)
    except SpecError as error:
        if spec is not None or config.stack or not in_force.get(stack_variable):
            raise
        raise SettingError(f"{stack_variable} in the environment: {error}") from None
    if not stack.layers:
        return native(environ)
    if environ.get(preload_variable) == preload_disables:
        raise PluginError(
            f"{preload_variable}={preload_disables} in the environment forbids HDF5 to load any "
            "plug-in; unset it"
        )
    check_files(stack.files(), environ)
    assign = {search_variable: search_path(environ), **config.settings}
    connector, driver = stack.vol_connector(), stack.driver()
    if connector is not None:
        assign[connector_variable] = connector
    if driver is not None:
        assign.update(zip(driver_variables, driver, strict=True))
    return Plan(taken, stack, assign, _leftovers(assign, environ), _warnings(assign, environ))


def native(environ: Mapping[str, str], warnings: tuple[str, ...] = ()) -> Plan:
    """No layers: what an earlier stack of ours has set is undone."""
    assign, remove = {}, list(_leftovers({}, environ))
    inherited = environ.get(search_variable)
    with contextlib.suppress(PluginError):  # where nothing is installed, nothing of ours is named
        path = search_path_without_ours(environ)
        if path is None and inherited is not None:
            remove.append(search_variable)
        elif path is not None and path != inherited:
            assign[search_variable] = path
    return Plan(NATIVE, Stack(()), assign, tuple(remove), warnings)


def off(environ: Mapping[str, str]) -> Plan:
    """Whatever is asked for: the user has turned all layers off."""
    return native(environ, (f"{switch_variable}={switched_off} in the environment: no layers",))


def _leftovers(assign: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables of an earlier stack of ours that this one does not set again."""
    kept = without_layers(environ)
    return tuple(name for name in environ if name not in kept and name not in assign)


def _warnings(assign: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name}={environ[name]} in the environment is replaced by the stack"
        for name in (connector_variable, driver_variables[0])
        if name in assign
        and environ.get(name, "") not in ("", assign[name])
        and not environ[name].startswith(_OUR_CLASSES)
    )


def without_layers(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for a program that can load no plug-ins of ours."""
    groups = ((connector_variable,), driver_variables)
    ours = [group for group in groups if environ.get(group[0], "").startswith(_OUR_CLASSES)]
    names = {name for group in ours for name in group}
    return {name: text for name, text in environ.items() if name not in names}


def initial_environment() -> dict[str, str]:
    """The environment that this process was started with, before it changed anything itself."""
    try:
        block = Path("/proc/self/environ").read_bytes()
    except OSError:
        return dict(os.environ)
    entries = (os.fsdecode(entry).partition("=") for entry in block.split(b"\0") if entry)
    return {name: text for name, _, text in entries}


def inherited_environment() -> dict[str, str]:
    """os.environ with LC_CTYPE as it came: Python may change it at its start (PEP 538)."""
    environ = dict(os.environ)
    environ.pop("LC_CTYPE", None)
    initial = initial_environment()
    return environ | {name: initial[name] for name in ("LC_CTYPE",) if name in initial}
