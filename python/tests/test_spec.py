"""The grammar of stacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import spec
from headrace.errors import SpecError
from headrace.spec import Layer, Option

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
layers = st.builds(
    lambda name, options: Layer(name, tuple(Option(*pair) for pair in options.items())),
    names,
    st.dictionaries(names, texts, max_size=3),
)


def _bare(stack: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Without the places where its words stood."""
    return tuple(
        Layer(layer.name, tuple(Option(option.name, option.value) for option in layer.options))
        for layer in stack
    )


def test_layers_come_in_order_with_their_options() -> None:
    parsed = spec.parse("trace,async(threads=4,budget=512MiB),log")
    assert _bare(parsed) == (
        Layer("trace"),
        Layer("async", (Option("threads", "4"), Option("budget", "512MiB"))),
        Layer("log"),
    )


def test_blanks_between_words_do_not_matter() -> None:
    spaced = spec.parse(" a ( b = 1 ,\n c = 2 ) , d ( ) ")
    assert _bare(spaced) == _bare(spec.parse("a(b=1,c=2),d"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('a(b="x, y)")', "x, y)"),
        ("a(b='it\\'s')", "it's"),
        ('a(b="\\\\")', "\\"),
        ('a(b="")', ""),
        ("a(b=~/x/%41.h5)", "~/x/%41.h5"),
    ],
)
def test_odd_values(text: str, value: str) -> None:
    assert spec.parse(text)[0].options[0].value == value


@pytest.mark.parametrize(
    ("text", "start", "reason"),
    [
        ("", 0, "name of a layer"),
        ("null,", 5, "name of a layer"),
        ("null null", 5, "expected ',' or '('"),
        ("null(seat)", 9, "expected '='"),
        ("null(seat=)", 10, "expected a value"),
        ("null(seat=vol", 13, "expected ',' or ')'"),
        ("null(=vol)", 5, "name of an option"),
        ('null(seat="vol)', 10, "not closed"),
        ("null(a=1,a=2)", 9, "given twice"),
        ("a\0", 1, "NUL"),
        ("a(b=\ud800)", 4, "environment"),
    ],
)
def test_mistakes_are_pointed_at(text: str, start: int, reason: str) -> None:
    with pytest.raises(SpecError, match="stack: ") as caught:
        spec.parse(text)
    assert caught.value.start == start
    assert reason in caught.value.reason
    assert str(caught.value).splitlines()[-1] == "    " + " " * start + "^" * caught.value.length


@given(st.lists(layers, min_size=1, max_size=4).map(tuple))
def test_composed_text_parses_to_the_same(stack: tuple[Layer, ...]) -> None:
    assert _bare(spec.parse(spec.compose(stack))) == stack


@given(st.text() | st.text("ab,()=\"'\\ \n\0", max_size=12))
def test_any_text_parses_or_is_a_spec_error(text: str) -> None:
    try:
        parsed = spec.parse(text)
    except SpecError as error:
        assert 0 <= error.start <= len(text)  # noqa: PT017, either outcome is right
    else:
        assert _bare(spec.parse(spec.compose(parsed))) == _bare(parsed)
