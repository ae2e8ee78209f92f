"""The table of a run, as wide as the terminal."""

import io

import pytest
from rich.console import Console

from headrace.bench.summary import Row, Side
from headrace.bench.terminal import show
from headrace.measuring.stats import Ratio, Spread

SIDE = Side(
    Spread.of([1.0, 1.2, 1.7]), 123 << 30, Ratio(12.34, 5, 10.01, 14.99, 0.94), raw=0.5
)  # fmt: skip


def row(stack: str, ranks: int = 1, errors: tuple[str, ...] = ()) -> Row:
    sides = {"write": SIDE, "read": SIDE}
    return Row("vpic", "strided-independent/sparse", stack, ranks, sides=sides, errors=errors)


@pytest.mark.parametrize("width", [80, 100, 119, 140, None])
@pytest.mark.parametrize("ranks", [1, 64])
def test_no_line_is_wider_than_the_terminal(width: int | None, ranks: int) -> None:
    """80 where the output is a file, which has no width of its own."""
    out = io.StringIO()
    console = Console(file=out, width=width, _environ={})
    rows = [row("native"), row("tune(sieve=1MiB),async(threads=4)", ranks, ("one",))]
    show(console, rows)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= (width or 80)
    text = out.getvalue()
    for part in ("GiB/s", "12.3", "10.01", "14.99", "some failed", "±"):
        assert part in text, "no figure is cut"
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
