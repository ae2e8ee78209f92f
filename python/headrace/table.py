"""The table of settings, as plug-ins describe it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from headrace import values
from headrace.errors import PluginError, SettingError, unknown
from headrace.values import Value

prefix: Final = "HEADRACE_"
listed_by: Final = "headrace settings"


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
            raise SettingError(unknown("setting", name, names, listed_by))
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
                reason = unknown("setting", name, self._by_env, listed_by, prefix.rstrip("_"))
                raise SettingError(f"environment: {reason}")
            self._by_env[name].parse(text, f"{name} in the environment")
        return found
