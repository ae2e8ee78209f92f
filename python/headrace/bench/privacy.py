"""Results are published: they tell nothing of whose machine they are from."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"
# The folders of an absolute path; not those of "~/a/b", "and/or" or an address.
_FOLDERS = re.compile(r"(?<![\w~./:])/(?:[^\s/:;,'\"()]+/)+")
# The values in the specification of a stack, in quotes or without.
_VALUES = re.compile(
    r"""(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)|[^=,()"'\[\]{}]+"""
)
_SPEED = re.compile(r"\d[\d.]*\s*\w*/\w+$")
# Options of MPI launchers whose values name machines.
_HOSTS: Final = ("-H", "-host", "--host", "-hosts", "--hosts")
_LAUNCHER: Final = "--mpiexec"


def without_folders(text: str, data: Path) -> str:
    """Paths in a message by what tells something: below the data's folder, else the last part."""
    shown = text.replace(str(data), "DATA").replace(str(Path.home()), "/~")
    return _FOLDERS.sub(f"{_ELLIPSIS}/", shown)


def last_part(text: str) -> str:
    """Of a path or an address the last part; any other text as it is."""
    if "/" not in text or _SPEED.match(text):
        return text
    scheme, separator, _ = text.partition("://")
    name = text.rstrip("/").rpartition("/")[2]
    return f"{scheme}://{_ELLIPSIS}/{name}" if separator else name


def stack(text: str) -> str:
    """Stacks without the folders of what their options name."""
    return _VALUES.sub(_value, text)


def word(text: str) -> str:
    """A word of a command line, also --option=VALUE."""
    name, separator, value = text.partition("=") if text.startswith("-") else ("", "", text)
    return name + separator + (stack(value) if "(" in value else last_part(value))


def launcher(words: Sequence[str]) -> list[str]:
    """The command of an MPI launcher, without the machines that it names."""
    return [
        _ELLIPSIS if before in _HOSTS else word(each)
        for before, each in zip(("", *words), words, strict=False)
    ]


def command(words: Sequence[str]) -> str:
    """A command line as it may be shown to others."""
    shown = []
    for before, each in zip(("", *words), words, strict=False):
        name, separator, value = each.partition("=")
        if before == _LAUNCHER:
            shown.append(" ".join(launcher(_split(each))))
        elif name == _LAUNCHER and separator:
            shown.append(f"{name}={' '.join(launcher(_split(value)))}")
        else:
            shown.append(word(each))
    return shlex.join(shown)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _value(found: re.Match[str]) -> str:
    quote = found["quote"] or ""
    return quote + last_part(found["quoted"] if quote else found.group()) + quote
