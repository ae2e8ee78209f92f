"""HDF5's things as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from headrace import filters, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LONGEST: Final = 200  # characters of a name


def shortened(name: str) -> str:
    """A name without its middle where it is very long, in characters that every page can hold."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} \N{HORIZONTAL ELLIPSIS} {text[-half:]}"


def marked(text: str) -> Markup:
    """What stands between backticks as code."""
    parts = enumerate(text.split("`"))
    return Markup().join(Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in parts)


def product(dims: Iterable[int]) -> int:
    """How many elements there are."""
    return math.prod(int(each) for each in dims)


def extent(dims: Iterable[int]) -> str:
    """Dimensions and signs between them; a single element has no dimensions."""
    return f" {units.TIMES} ".join(units.count(each) for each in dims) or "a single element"


def type_(words: Mapping[str, Any]) -> str:
    """float, 8 bytes, little-endian."""
    parts = [str(words.get("class", "")).removeprefix("H5T_").lower()]
    size = int(words.get("size", 0))
    parts.append("1 byte" if size == 1 else f"{units.count(size)} bytes")
    if order := words.get("order"):
        parts.append(f"{order}-endian")
    return ", ".join(parts)


def filter_(words: Mapping[str, Any]) -> str:
    """A name and its values; a number where there is no well-known name."""
    id_ = int(words.get("id", 0))
    values = ", ".join(str(each) for each in list(words.get("values", ()))[:8])
    name = filters.names.get(id_, f"filter {id_}")
    return f"{name} ({values})" if values else name


def power(number: int) -> str:
    """A row of a histogram of sizes."""
    if number < 0:
        return "none"
    return "1 B" if number == 0 else f"from {_round(number)}"


def _round(number: int) -> str:
    step, rest = divmod(number, 10)
    return f"{1 << rest} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[step]}"


def number_of(value: float, one: str, many: str = "") -> str:
    """1 call, 12 calls."""
    return f"1 {one}" if value == 1 else f"{units.count(value)} {many or one + 's'}"


def times(value: float) -> str:
    """A ratio; without a fraction where it is large."""
    return units.times(value) if value < 100 else f"{units.TIMES}{units.count(value)}"


def share(part: float, whole: float) -> str:
    """34 %, or less than 1 %."""
    percent = 100 * part / whole if whole else 0
    if 0 < percent < 1:
        return "less than 1 %"
    if 99 < percent < 100:
        return "more than 99 %"
    return f"{percent:.0f} %"
