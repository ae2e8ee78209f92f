"""Configuration files: a stack and its settings in TOML.

stack = "trace,async,log"

[settings]                  # settings of no layer, by option name
log_level = "info"

[layers.async]              # options of a layer; the stack's own options beat them
threads = 4
budget = "512MiB"

[[rules]]                   # options of the layer tune for files and datasets by pattern
dataset = "/fields/*"
chunk_cache = false

[found]                     # what `headrace tune` says of what it has found; nobody else reads it
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from headrace.catalogue import Catalogue
from headrace.errors import ConfigError, SettingError, unknown

_KEYS = ("stack", "settings", "layers", "rules", "found")
_RULED = "tune"  # the layer that reads rules
_PATTERNS = ("file", "dataset")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Config(NamedTuple):
    """What a file says: checked and in canonical text."""

    stack: str | None = None
    # By environment name.
    settings: Mapping[str, str] = _NOTHING
    # By layer, then by option.
    layers: Mapping[str, Mapping[str, str]] = _NOTHING
    # Whether it has options by pattern.
    rules: bool = False


def load(file: str | os.PathLike[str], catalogue: Catalogue) -> Config:
    """Reads a file; raises ConfigError, which names file and key, when anything is wrong."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{os.fspath(file)}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{os.fspath(file)}: not UTF-8 text: {error}") from None
    try:
        found = parse(text, catalogue)
    except ConfigError as error:
        raise ConfigError(f"{os.fspath(file)}: {error}") from None
    if not found.rules:
        return found
    # The layer reads them itself, from there.
    options = {"rules": str(Path(file).absolute()), **found.layers.get(_RULED, {})}
    return found._replace(layers={**found.layers, _RULED: options})


def parse(text: str, catalogue: Catalogue) -> Config:
    """The same for the text of a file; its errors name the key only."""
    import tomllib  # noqa: PLC0415, takes longer than a plain start may

    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not TOML: {error}") from None
    for key in content:
        if key not in _KEYS:
            raise ConfigError(unknown("key", key, _KEYS))
    stack = content.get("stack")
    if stack is not None and not isinstance(stack, str):
        raise ConfigError('key stack: expected text such as "null"')
    layers = {}
    for layer, options in _table(content, "layers").items():
        if layer not in catalogue.layers:
            raise ConfigError("key layers: " + unknown("layer", layer, catalogue.layers))
        layers[layer] = _options(catalogue, layer, options, f"layers.{layer}")
    rows = catalogue.settings.of_layer("")
    settings = _options(catalogue, "", _table(content, "settings"), "settings")
    named = {rows[key].env: text for key, text in settings.items()}
    return Config(stack, named, layers, _has_rules(content, catalogue))


def _has_rules(content: dict[str, Any], catalogue: Catalogue) -> bool:
    """Raises ConfigError where they are none that the layer would take."""
    rules = content.get("rules", [])
    if not isinstance(rules, list):
        raise ConfigError("key rules: expected tables, each as [[rules]]")
    for number, rule in enumerate(rules, 1):
        where = f"rules, number {number}"
        if not isinstance(rule, dict):
            raise ConfigError(f"key {where}: expected a table")
        for pattern in _PATTERNS:
            if not isinstance(rule.get(pattern, ""), str):
                raise ConfigError(f'key {where}: {pattern}: expected text such as "*.nc"')
        options = {key: value for key, value in rule.items() if key not in _PATTERNS}
        _options(catalogue, _RULED, options, where)
    return bool(rules)


def _options(catalogue: Catalogue, layer: str, options: object, where: str) -> dict[str, str]:
    if not isinstance(options, dict):
        raise ConfigError(f"key {where}: expected a table")
    rows = catalogue.settings.of_layer(layer)
    checked = {}
    for key, value in options.items():
        kind = f"option of layer {layer}" if layer else "setting"
        if key not in rows:
            raise ConfigError(f"key {where}: " + unknown(kind, key, rows))
        try:
            checked[key] = rows[key].to_text(value, f"{where}.{key}")
        except SettingError as error:
            raise ConfigError(str(error)) from None
    return checked


def _table(content: dict[str, Any], key: str) -> dict[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise ConfigError(f"key {key}: expected a table")
    return table
