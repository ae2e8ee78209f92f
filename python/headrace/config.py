"""Configuration files: a stack and its settings in TOML.

stack = "trace,async,log"

[settings]                  # settings of no layer, by option name
log_level = "info"

[layers.async]              # options of a layer; the stack's own options beat them
threads = 4
budget = "512MiB"

[found]                     # what `headrace tune` says of what it has found; nobody else reads it
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.catalogue import Catalogue
from headrace.errors import ConfigError, SettingError, unknown

_KEYS = ("stack", "settings", "layers", "found")


@dataclass(frozen=True, slots=True)
class Config:
    """What a file says: checked and in canonical text."""

    stack: str | None = None
    # By environment name.
    settings: Mapping[str, str] = field(default_factory=dict)
    # By layer, then by option.
    layers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def load(file: str | os.PathLike[str], catalogue: Catalogue) -> Config:
    """Reads a file; raises ConfigError, which names file and key, when anything is wrong."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{os.fspath(file)}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{os.fspath(file)}: not UTF-8 text: {error}") from None
    try:
        return parse(text, catalogue)
    except ConfigError as error:
        raise ConfigError(f"{os.fspath(file)}: {error}") from None


def parse(text: str, catalogue: Catalogue) -> Config:
    """The same for the text of a file; its errors name the key only."""
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
    return Config(stack, {rows[key].env: text for key, text in settings.items()}, layers)


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
