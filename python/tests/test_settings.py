"""The table of settings and the values in force."""

from pathlib import Path

import pytest

from headrace import settings
from headrace.catalogue import Catalogue
from headrace.errors import PluginError, SettingError
from headrace.settings import Current
from headrace.table import Setting


def test_values_come_from_the_environment_else_from_the_table(catalogue: Catalogue) -> None:
    current = Current(catalogue.settings, {"HEADRACE_TRACE_BUDGET": "1GiB", "PATH": "/bin"})
    assert current.trace_budget == 2**30
    assert current["trace_depth"] == 8
    assert current.trace_file == Path("trace.json")
    assert current.log_file == ""
    assert current.model_delay == 10**6
    assert current.trace_values is False
    assert set(current) >= {"log_level", "null_seat"}
    assert len(current) == 15


def test_unknown_names_are_told_with_those_like_them(catalogue: Catalogue) -> None:
    current = Current(catalogue.settings, {})
    with pytest.raises(AttributeError, match="did you mean trace_budget"):
        _ = current.trace_bugdet
    with pytest.raises(SettingError, match="did you mean log_level"):
        catalogue.settings.by_python_name("loglevel")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("HEADRACE_LOG_LEVL", "info", "did you mean HEADRACE_LOG_LEVEL"),
        ("HEADRACE_TRACE", "", "did you mean .*HEADRACE_TRACE_FILE"),
        ("HEADRACE_XYZZY", "", "'HEADRACE_XYZZY'. `headrace settings` lists them"),
        ("HEADRACE", "maybe", "'maybe' is not one of on, off"),
        ("HEADRACE_LOG_LEVEL", "loud", "HEADRACE_LOG_LEVEL in the environment: 'loud' is not one"),
        ("HEADRACE_TRACE_BUDGET", "", "HEADRACE_TRACE_BUDGET"),
    ],
)
def test_environment_is_checked(catalogue: Catalogue, name: str, text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        Current(catalogue.settings, {name: text})
    # Of all settings that there are, only those are named that may have been meant.
    assert str(caught.value).count("HEADRACE") <= 4


def test_a_row_of_an_unknown_type_is_refused() -> None:
    row = {"option": "a", "env": "A", "python": "a", "type": "colour", "meaning": "m"}
    with pytest.raises(PluginError, match="unknown type of setting 'colour'"):
        Setting.from_json(row)
    del row["meaning"]
    with pytest.raises(PluginError, match="lacks 'meaning'"):
        Setting.from_json(row)


def test_the_module_gives_values_as_attributes(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.settings.load_catalogue", lambda _: catalogue)
    monkeypatch.setenv("HEADRACE_TRACE_DEPTH", "12")
    assert settings.trace_depth == 12
    assert settings.current().trace_depth == 12
    assert {row.option for row in settings.table()} >= {"log_level", "depth"}
    with pytest.raises(AttributeError, match="unknown setting 'nonsense'"):
        _ = settings.nonsense
