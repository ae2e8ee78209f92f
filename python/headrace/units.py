"""Numbers as people read them."""

from typing import Final

TIMES: Final = "\N{MULTIPLICATION SIGN}"
# Between the ends of a range, and for what there is none of.
DASH: Final = "\N{EN DASH}"
_STEPS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def digits(value: float, count: int = 3) -> str:
    """Three digits or so, without an exponent below a million: 0.0123, 1.23, 123, 12300."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (count - 1):
        return f"{value:.0f}"
    text = f"{value:#.{count}g}"
    return f"{value:.2e}" if "e" in text else text.rstrip(".")


def size(count: float) -> str:
    """Bytes: 1.5 GiB."""
    step = 0
    while abs(count) >= 1024 and step < len(_STEPS) - 1:
        count /= 1024
        step += 1
    return f"{digits(count)} {_STEPS[step]}"


def rate(bytes_per_second: float) -> str:
    """1.5 GiB/s."""
    return f"{size(bytes_per_second)}/s"


def seconds(value: float) -> str:
    """1.5 s, 20 ms, 30 µs."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if abs(value) * factor >= 1 or unit == "µs":
            return f"{digits(value * factor)} {unit}"
    return f"{value} s"


def count(value: float) -> str:
    """Thousands apart: 12 345."""
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def times(value: float) -> str:
    """A ratio, with the sign before it: 1.25, 12.5."""
    return f"{TIMES}{value:.2f}" if value < 10 else f"{TIMES}{value:.1f}"
