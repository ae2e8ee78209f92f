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
from collections.abc import Iterator, Mapping

from headrace.errors import unknown
from headrace.in_force import options_in
from headrace.plugins import load_catalogue
from headrace.table import Table, listed_by
from headrace.values import Value


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
            raise AttributeError(unknown("setting", name, existing, listed_by))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """All Python names."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many settings there are."""
        return len(self._values)


def table() -> Table:
    """The table of all settings, as the installed plug-ins tell it."""
    return load_catalogue(os.environ).settings


def current() -> Current:
    """The values in force in this process: from its stack, the environment, else the defaults."""
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
