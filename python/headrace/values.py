"""The types of settings: how their values are read, written and described.

The accepted texts are those of the plug-ins' own parser, so that what passes here passes there.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

type_names: Final = ("choice", "path", "string", "integer", "size", "boolean", "duration")

# What a setting's value is in Python: sizes are bytes, durations nanoseconds.
Value = str | int | bool | Path

_LARGEST: Final = 2**64 - 1
_SCALED = re.compile(r"([0-9]+)([A-Za-z]*)")
_SIZES: Final[Mapping[str, int]] = {
    "": 1,
    **dict.fromkeys(("K", "KiB"), 2**10),
    **dict.fromkeys(("M", "MiB"), 2**20),
    **dict.fromkeys(("G", "GiB"), 2**30),
    **dict.fromkeys(("T", "TiB"), 2**40),
}
_DURATIONS: Final[Mapping[str, int]] = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_BOOLEANS: Final[Mapping[str, bool]] = {"true": True, "1": True, "false": False, "0": False}
_SUFFIXES: Final[Mapping[str, Mapping[str, int]]] = {
    "integer": {"": 1},
    "size": _SIZES,
    "duration": _DURATIONS,
}


def expectation(kind: str, choices: tuple[str, ...] = ()) -> str:
    """What a value of this type looks like, for messages and tables."""
    return {
        "choice": "one of " + ", ".join(choices),
        "boolean": "true or false",
        "integer": "a whole number, 0 or more",
        "size": "a size such as 4096, 64KiB or 2GiB",
        "duration": "a duration such as 500us, 20ms or 1s",
    }.get(kind, "text")


def parse(kind: str, text: str, choices: tuple[str, ...] = ()) -> Value:
    """Reads a value; raises ValueError, whose text says what was expected."""
    if kind == "choice" and text in choices:
        return text
    if kind == "boolean" and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind in _SUFFIXES:
        return _scaled(kind, text)
    if kind == "string":
        return text
    if kind == "path":
        return Path(text) if text else ""
    raise ValueError(f"{text!r} is not {expectation(kind, choices)}")


def _scaled(kind: str, text: str) -> int:
    match = _SCALED.fullmatch(text)
    factor = _SUFFIXES[kind].get(match.group(2)) if match else None
    # 64 bits have 20 digits; int() refuses thousands of them with an error of another kind.
    if match is None or factor is None:
        raise ValueError(f"{text!r} is not {expectation(kind)}")
    digits = match.group(1).lstrip("0") or "0"
    if len(digits) > 20 or (number := int(digits) * factor) > _LARGEST:
        raise ValueError(f"{text!r} is more than 64 bits hold")
    return number


def to_text(kind: str, value: object, choices: tuple[str, ...] = ()) -> str:
    """The canonical text of a value given as Python object or as text; raises ValueError."""
    text = _plain_text(kind, value, choices)
    parsed = parse(kind, text, choices)
    if isinstance(parsed, bool):
        return "true" if parsed else "false"
    if isinstance(parsed, int):
        return f"{parsed}ns" if kind == "duration" else str(parsed)
    if "\0" in text:
        raise ValueError("a NUL byte cannot be passed in an environment")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ValueError(f"{text!r} cannot be passed in an environment") from None
    return text


def _plain_text(kind: str, value: object, choices: tuple[str, ...]) -> str:
    if isinstance(value, bool):
        if kind == "boolean":
            return "true" if value else "false"
    elif isinstance(value, int):
        if kind in _SUFFIXES and 0 <= value <= _LARGEST:
            return str(value)
    elif isinstance(value, str):
        return value
    elif isinstance(value, os.PathLike) and kind == "path":
        return os.fsdecode(value)
    raise ValueError(f"{_shown(value)} is not {expectation(kind, choices)}")


def _shown(value: object) -> str:
    """A short picture: the digits of a huge number cost an error of another kind."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        return "a number past 64 bits"
    return repr(value)
