"""The settings: one table, which the plug-ins carry, and the values in force.

    >>> import headrace
    >>> headrace.settings.current().log_level          # doctest: +SKIP
    'warning'
    >>> headrace.settings.log_level                    # the same, in short; doctest: +SKIP
    'warning'

`current()` reads the environment, which has the stack in it, each time; sizes come as bytes,
durations as nanoseconds, paths as `pathlib.Path` or, where none is set, as an empty string.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from headrace import values
from headrace.errors import PluginError, SettingError, unknown
from headrace.values import Value

prefix: Final = "HEADRACE_"
_LISTED_BY: Final = "headrace settings"


class Setting(NamedTuple):
    """One row of the table. `layer` is empty for a setting of no layer in particular."""

    layer: str
    option: str
    env: str
    python: str
    type: str
    default: str
    meaning: str
    unit: str = ""
    choices: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Setting":
        """Reads a row of a plug-in's description; raises PluginError when it is malformed."""
        try:
            setting = cls(
                layer=str(row.get("layer", "")),
                option=str(row["option"]),
                env=str(row["env"]),
                python=str(row["python"]),
                type=str(row["type"]),
                default=str(row.get("default", "")),
                meaning=str(row["meaning"]),
                unit=str(row.get("unit", "")),
                choices=tuple(str(choice) for choice in row.get("choices", ())),
            )
        except KeyError as error:
            raise PluginError(f"a setting's description lacks {error}") from None
        if setting.type not in values.type_names:
            raise PluginError(unknown("type of setting", setting.type, values.type_names))
        return setting

    def parse(self, text: str, name: str) -> Value:
        """The value that `text` means; SettingError blames `name`, the way it was given."""
        try:
            return values.parse(self.type, text, self.choices)
        except ValueError as error:
            raise SettingError(f"setting {name}: {error}") from None

    def to_text(self, value: object, name: str) -> str:
        """The canonical text of a value from Python or TOML; SettingError blames `name`."""
        try:
            return values.to_text(self.type, value, self.choices)
        except ValueError as error:
            raise SettingError(f"setting {name}: {error}") from None

    def expectation(self) -> str:
        """What a value looks like."""
        return values.expectation(self.type, self.choices)


class Table:
    """All settings of the layers that are installed."""

    def __init__(self, rows: Iterable[Setting] = ()) -> None:
        """Takes the rows in order; of rows for one environment name the first counts."""
        self._by_env: dict[str, Setting] = {}
        for row in rows:
            self._by_env.setdefault(row.env, row)

    def __iter__(self) -> Iterator[Setting]:
        """All rows, those of no layer first as the plug-ins list them."""
        return iter(self._by_env.values())

    def of_layer(self, layer: str) -> dict[str, Setting]:
        """The options of one layer by name; of the empty name, the global settings."""
        return {row.option: row for row in self if row.layer == layer}

    def by_python_name(self, name: str) -> Setting:
        """The row with this Python name; SettingError when there is none."""
        names = {row.python: row for row in self}
        if name not in names:
            raise SettingError(unknown("setting", name, names, _LISTED_BY))
        return names[name]

    def from_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The HEADRACE_* variables that are set; SettingError for unknown and malformed ones."""
        found = {
            name: text
            for name, text in environ.items()
            if name.startswith(prefix) or name in self._by_env
        }
        for name, text in found.items():
            if name not in self._by_env:
                reason = unknown("setting", name, self._by_env, _LISTED_BY, prefix.rstrip("_"))
                raise SettingError(f"environment: {reason}")
            self._by_env[name].parse(text, f"{name} in the environment")
        return found


class Current(Mapping[str, Value]):
    """The values in force, by Python name, as items and as attributes."""

    def __init__(self, rows: Table, environ: Mapping[str, str]) -> None:
        """Reads them from `environ`; raises SettingError as the plug-ins would."""
        given = rows.from_environment(environ)
        self._rows = rows
        self._values = {
            row.python: row.parse(given.get(row.env, row.default), row.env) for row in rows
        }

    def __getitem__(self, name: str) -> Value:
        """The value of the setting with this Python name."""
        return self._values[name]

    def __getattr__(self, name: str) -> Value:
        """The same; AttributeError lists the settings that exist."""
        if name.startswith("_") or name not in self._values:
            existing = self.__dict__.get("_values", ())
            raise AttributeError(unknown("setting", name, existing, _LISTED_BY))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """All Python names."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many settings there are."""
        return len(self._values)


def table() -> Table:
    """The table of all settings, as the installed plug-ins tell it."""
    from headrace.plugins import load_catalogue  # noqa: PLC0415, it needs Setting

    return load_catalogue(os.environ).settings


def current() -> Current:
    """The values in force in this process: from its stack, the environment, else the defaults."""
    from headrace.in_force import options_in  # noqa: PLC0415, they need Setting
    from headrace.plugins import load_catalogue  # noqa: PLC0415

    catalogue = load_catalogue(os.environ)
    rows = catalogue.settings
    of_stack = {
        rows.of_layer(layer)[option].env: text
        for layer, options in options_in(os.environ, catalogue).items()
        for option, text in options.items()
        if option in rows.of_layer(layer)
    }
    return Current(rows, {**os.environ, **of_stack})


def __getattr__(name: str) -> Value:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(current(), name)  # type: ignore[no-any-return]
