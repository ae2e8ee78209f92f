"""Configuration files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import config
from headrace.catalogue import Catalogue
from headrace.config import Config
from headrace.errors import ConfigError

_GOOD = """
stack = "trace,null"

[settings]
log_level = "info"
log_file = "a b.log"

[layers.trace]
budget = "1MiB"
depth = 3
values = true

[layers.model]
delay = 5
"""


def test_everything_a_file_can_say(catalogue: Catalogue) -> None:
    assert config.parse(_GOOD, catalogue) == Config(
        "trace,null",
        {"HEADRACE_LOG_LEVEL": "info", "HEADRACE_LOG_FILE": "a b.log"},
        {
            "trace": {"budget": "1048576", "depth": "3", "values": "true"},
            "model": {"delay": "5ns"},
        },
    )


def test_an_empty_file_says_nothing(catalogue: Catalogue) -> None:
    assert config.parse("", catalogue) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stack = ", "not TOML"),
        ("stack = 1", "key stack: expected text"),
        ("stak = 'null'", "unknown key 'stak'; did you mean stack"),
        ("settings = 1", "key settings: expected a table"),
        ("[settings]\nlog_levl = 'info'", "key settings: unknown setting.*did you mean log_level"),
        ("[settings]\nlog_level = 'loud'", "setting settings.log_level: 'loud' is not one of"),
        ("[settings]\nlog_level = 3", "setting settings.log_level: 3 is not one of"),
        ("[layers]\nnull = 1", "key layers.null: expected a table"),
        ("[layers.nul]", "key layers: unknown layer 'nul'; did you mean null"),
        ("[layers.null]\nsit = 'vol'", "key layers.null: unknown option of layer null 'sit'"),
        ("[layers.trace]\nbudget = 1.5", "setting layers.trace.budget: 1.5 is not a size"),
        ("[layers.trace]\nlabel = 1979-05-27", "setting layers.trace.label"),
        ("rules = 1", "key rules: expected tables"),
        ("rules = [1]", "key rules, number 1: expected a table"),
        ("[[rules]]\nfile = 3", "key rules, number 1: file: expected text"),
    ],
)
def test_mistakes_name_their_key(catalogue: Catalogue, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.parse(text, catalogue)


def test_mistakes_name_their_file(catalogue: Catalogue, tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    with pytest.raises(ConfigError, match=r"site\.toml: No such file"):
        config.load(file, catalogue)
    file.write_bytes(b"stack = '\xff'")
    with pytest.raises(ConfigError, match=r"site\.toml: not UTF-8"):
        config.load(file, catalogue)
    file.write_text("stak = 'null'")
    with pytest.raises(ConfigError, match=r"site\.toml: unknown key"):
        config.load(file, catalogue)
    file.write_text(_GOOD)
    assert config.load(file, catalogue).stack == "trace,null"


_KEYS = st.sampled_from(["stack", "settings", "layers", "layers.trace", "layers.null", "x"])
_LINES = st.one_of(
    st.builds("[{}]".format, _KEYS),
    st.builds(
        "{} = {}".format, st.sampled_from(["stack", "log_level", "budget", "seat"]), st.text()
    ),
)


@given(st.text() | st.lists(_LINES).map("\n".join) | st.just("a = " + "[" * 5000))
def test_any_text_is_read_or_is_a_config_error(catalogue: Catalogue, text: str) -> None:
    try:
        config.parse(text, catalogue)
    except ConfigError as error:
        assert str(error)  # noqa: PT017, either outcome is right
