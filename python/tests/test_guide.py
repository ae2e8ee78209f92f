"""The guide has all commands, as they are, and a word on each number that `--stats` prints."""

import re
from pathlib import Path

import pytest

from headrace import statistics
from headrace.cli import reference
from headrace.cli.commands import command, walk

_CHECKOUT = Path(__file__).parents[2]
_GUIDE = _CHECKOUT / "docs/guide"


@pytest.mark.parametrize("name", ["commands.md", "command-line.md", "trace.md"])
def test_the_pages_of_commands_are_current(name: str) -> None:
    kept = (_GUIDE / name).read_text(encoding="utf-8")
    told = "run: python -m headrace.cli.reference docs/guide"
    assert reference.pages(_GUIDE)[name] == kept, told


def test_each_command_explains_itself() -> None:
    for name, each in walk(command(), "headrace"):
        assert each.help, name
        assert not each.help.startswith("The same"), name
        for param in each.params:
            assert getattr(param, "help", None) or param.metavar, (name, param.name)
            if getattr(param, "is_flag", False):
                assert param.metavar == "", (name, param.name)  # no <bool>


def _labels() -> set[str]:
    """Of all numbers that the layers' sources name."""
    names = {"files", "datasets"}
    for source in (_CHECKOUT / "src").rglob("*.[ch]pp"):
        text = source.read_text(encoding="utf-8")
        names |= set(re.findall(r'"(left_for_[a-z_]+)"', text))
        names |= set(re.findall(r'[( ]report\("([a-z_]+)", [a-z]', text))
        if "report_statistics(" in text and "pair<std::string_view, std::uint64_t>" in text:
            names |= set(re.findall(r'\{"([a-z][a-z0-9_]+)",\s', text))
    return {statistics.label(name) for name in names}


def test_each_number_of_stats_has_a_word_in_the_guide() -> None:
    page = (_GUIDE / "statistics.md").read_text(encoding="utf-8")
    explained = {
        label
        for row in page.splitlines()
        if row.startswith("| `")
        for label in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    derived = {"writes merged", "overlap"}
    assert len(_labels()) > 60
    assert explained == _labels() | derived


def _luminance(colour: str) -> float:
    """As WCAG has it, of #rgb or #rrggbb."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("picture", ["stripe-layout.svg", "stripe-when.svg"])
def test_text_in_pictures_can_be_read(picture: str) -> None:
    """On their own ground, as a page's may be dark where the system's is not; WCAG asks for 4.5."""
    text = (_CHECKOUT / "docs/pictures" / picture).read_text(encoding="utf-8")
    light, dark = text[: text.index("</style>")].split("@media")
    pairs = [("#fff", colour) for colour in re.findall(r'<rect [^>]*fill="(#\w+)"', text)]
    assert pairs
    for style in (light, dark):
        (ground,) = re.findall(r"\.ground{fill:(#\w+)}", style)
        found = re.findall(r"(?:text|\.soft){(?:font:[^;]*;)?fill:(#\w+)}", style)
        assert len(found) == 2
        pairs += [(ground, colour) for colour in found]
    for one, other in pairs:
        darker, lighter = sorted((_luminance(one), _luminance(other)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (one, other)
