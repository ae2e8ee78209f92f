"""Values of settings, type by type."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import values
from headrace.values import Value

_CHOICES = ("vol", "vfd")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("choice", "vol", "vol"),
        ("boolean", "true", True),
        ("boolean", "0", False),
        ("integer", "0018446744073709551615", 2**64 - 1),
        ("size", "4096", 4096),
        ("size", "3K", 3072),
        ("size", "512MiB", 512 * 2**20),
        ("size", "2T", 2**41),
        ("duration", "7", 7),
        ("duration", "20ms", 20_000_000),
        ("duration", "1s", 10**9),
        ("string", "", ""),
        ("path", "/a b", Path("/a b")),
        ("path", "", ""),
    ],
)
def test_good_values(kind: str, text: str, value: Value) -> None:
    parsed = values.parse(kind, text, _CHOICES)
    assert parsed == value
    assert type(parsed) is type(value) or isinstance(value, Path)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("choice", "VOL"),
        ("boolean", "yes"),
        ("integer", "-1"),
        ("integer", "1K"),
        ("integer", "\u0663"),
        ("integer", "18446744073709551616"),
        ("integer", "9" * 10_000),
        ("size", "1.5GiB"),
        ("size", "16777216TiB"),
        ("size", "1 K"),
        ("size", "K"),
        ("size", "1kib"),
        ("duration", "1h"),
        ("duration", ""),
        ("colour", "red"),
    ],
)
def test_bad_values_say_what_was_expected(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"is not |64 bits"):
        values.parse(kind, text, _CHOICES)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("size", "1KiB", "1024"),
        ("size", 1024, "1024"),
        ("boolean", "1", "true"),
        ("boolean", False, "false"),
        ("duration", "2us", "2000ns"),
        ("path", Path("a/b"), "a/b"),
        ("path", "./a//b", "./a//b"),
        ("string", "\udcff", "\udcff"),
    ],
)
def test_canonical_text(kind: str, value: object, text: str) -> None:
    assert values.to_text(kind, value) == text


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", True),
        ("integer", -1),
        pytest.param("integer", 10**5000, id="huge"),
        ("integer", 1.0),
        ("string", 1),
        ("string", Path("a")),
        ("string", "a\0"),
        ("path", "\ud800"),
        ("boolean", 1),
        ("path", None),
    ],
)
def test_objects_of_the_wrong_type(kind: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"is not |cannot be passed"):
        values.to_text(kind, value)


@given(st.sampled_from([*values.type_names, "colour"]), st.text() | st.integers() | st.booleans())
def test_canonical_text_is_stable_and_all_else_a_value_error(kind: str, value: object) -> None:
    try:
        text = values.to_text(kind, value, _CHOICES)
    except ValueError:
        return
    assert values.to_text(kind, text, _CHOICES) == text
    values.parse(kind, text, _CHOICES)
