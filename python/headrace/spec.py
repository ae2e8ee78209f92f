r"""The stack specification: which layers, from the application downwards, with which options.

    null
    trace,async(threads=4,budget=512MiB),log
    trace(file="calls, by rank.json")

A value that holds anything but letters, digits and ``_./:+-@%~`` goes in single or double
quotes, in which a backslash takes the next character as it is.
"""

import os
import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

from headrace.errors import SpecError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BARE = re.compile(r"[A-Za-z0-9_./:+\-@%~]+")
_BLANK = re.compile(r"\s*")


class Option(NamedTuple):
    """One ``name=value``. The places are where it stood, for messages."""

    name: str
    value: str
    name_at: int = 0
    value_at: int = 0
    value_length: int = 1


class Layer(NamedTuple):
    """One layer as it was written, not yet checked against the layers that exist."""

    name: str
    options: tuple[Option, ...] = ()
    at: int = 0


def parse(spec: str) -> tuple[Layer, ...]:
    """Parses a specification; raises SpecError, and nothing else, when it is malformed."""
    try:
        os.fsencode(spec)
    except UnicodeEncodeError as error:
        raise SpecError(spec, "this cannot be passed in an environment", error.start) from None
    if "\0" in spec:
        raise SpecError(spec, "a NUL byte cannot be passed in an environment", spec.index("\0"))
    return _Parser(spec).stack()


def compose(layers: Iterable[Layer]) -> str:
    """The reverse of parse()."""
    return ",".join(_compose_layer(layer) for layer in layers)


def _compose_layer(layer: Layer) -> str:
    if not layer.options:
        return layer.name
    options = ",".join(f"{option.name}={_quote(option.value)}" for option in layer.options)
    return f"{layer.name}({options})"


def _quote(value: str) -> str:
    if _BARE.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Parser:
    """Recursive descent over one specification; `_at` is the next character to read."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._at = 0

    def stack(self) -> tuple[Layer, ...]:
        layers = [self._layer()]
        while self._take(","):
            layers.append(self._layer())
        if self._at < len(self._spec):
            self._fail("expected ',' or '(' after a layer's name")
        return tuple(layers)

    def _layer(self) -> Layer:
        name, at = self._name("a layer")
        if not self._take("("):
            return Layer(name, (), at)
        options: list[Option] = []
        if self._take(")"):
            return Layer(name, (), at)
        while True:
            options.append(self._option(options))
            if self._take(")"):
                return Layer(name, tuple(options), at)
            if not self._take(","):
                self._fail(f"expected ',' or ')' in the options of {name}")

    def _option(self, earlier: list[Option]) -> Option:
        name, name_at = self._name("an option")
        if any(option.name == name for option in earlier):
            raise SpecError(self._spec, f"option {name!r} is given twice", name_at, len(name))
        if not self._take("="):
            self._fail(f"expected '=' and a value after option {name!r}")
        self._skip_blanks()
        value_at = self._at
        value = self._value(name)
        return Option(name, value, name_at, value_at, self._at - value_at)

    def _value(self, name: str) -> str:
        quote = self._spec[self._at : self._at + 1]
        if quote in ('"', "'"):
            return self._quoted(quote)
        bare = _BARE.match(self._spec, self._at)
        if bare is None:
            self._fail(f"expected a value for option {name!r}; odd ones go in quotes")
        self._at = bare.end()
        return bare.group()

    def _quoted(self, quote: str) -> str:
        opened_at = self._at
        text = ""
        self._at += 1
        while (char := self._spec[self._at : self._at + 1]) != quote:
            if char == "\\":
                self._at += 1
                char = self._spec[self._at : self._at + 1]
            if not char:
                raise SpecError(self._spec, "this quote is not closed", opened_at)
            text += char
            self._at += 1
        self._at += 1
        return text

    def _name(self, what: str) -> tuple[str, int]:
        self._skip_blanks()
        match = _NAME.match(self._spec, self._at)
        if match is None:
            self._fail(f"expected the name of {what}")
        self._at = match.end()
        return match.group(), match.start()

    def _take(self, char: str) -> bool:
        self._skip_blanks()
        if not self._spec.startswith(char, self._at):
            return False
        self._at += 1
        return True

    def _skip_blanks(self) -> None:
        blank = _BLANK.match(self._spec, self._at)
        if blank is not None:
            self._at = blank.end()

    def _fail(self, reason: str) -> NoReturn:
        raise SpecError(self._spec, reason, self._at)
