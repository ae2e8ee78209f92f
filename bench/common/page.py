"""Parts of the README.md of a result, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace import units
from headrace.bench.summary import Side

from .claims import Verdict

_WORST = 12
HEADINGS = ("claim", "case", "median", "least to most", "met", "in every repeat")


def table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """As Markdown has it."""
    head = [" | ".join(headings), " | ".join("---" for _ in headings)]
    body = [" | ".join(cell.replace("|", "/") for cell in line) for line in lines]
    return "\n".join(f"| {line} |" for line in [*head, *body])


def amount(value: float | None, unit: str) -> str:
    """A ratio, a percentage, or so many of another unit."""
    if value is None:
        return "not measured"
    if unit in ("percent", "times"):
        return f"{value:+.1%}" if unit == "percent" else f"{value:.3g}x"
    return f"{value:.3g} {unit}"


def span(each: Verdict) -> str:
    """Least and most, and of how many."""
    if not each.repeats:
        return units.DASH
    ends = (amount(end, each.unit) for end in (each.least, each.most))
    return f"{' to '.join(ends)} ({each.repeats})"


def cells(each: Verdict) -> list[str]:
    """A line of the table of targets."""
    return [each.claim, each.case, amount(each.median, each.unit), span(each),
            "yes" if each.met else "**no**", "yes" if each.every else "no"]  # fmt: skip


def targets(judged: Sequence[Verdict]) -> str:
    """All of them, and how many are met."""
    met = sum(each.met for each in judged)
    told = f"{met} of {len(judged)} are met. The number of repeats is in brackets."
    return f"{table(HEADINGS, [cells(each) for each in judged])}\n\n{told}"


def never_slower(found: Sequence[Verdict], heading: str) -> str:
    """How many comparisons are below 1, and the worst; they come worst first."""
    slower = sum(not each.met for each in found)
    worst = [
        [each.case, quantity(each.claim), amount(each.median, each.unit),
         f"{amount(each.least, each.unit)} to {amount(each.most, each.unit)}"]
        for each in found[:_WORST]
    ]  # fmt: skip
    text = f"Of {len(found)} comparisons the median of {slower} is below 1. The worst:\n\n"
    return text + table(("case", "side", heading, "least to most"), worst)


def quantity(claim: str) -> str:
    """What it is of, without the bound."""
    return claim.partition(" ≥")[0].partition(":")[0]


def machine(about: Mapping[str, Any]) -> str:
    """What was measured on."""
    return table(("", ""), [[name, str(value)] for name, value in about["machine"].items()])


def seconds(side: Side | None) -> str:
    """Median, range and ratio."""
    if side is None:
        return ""
    spread = side.seconds
    text = f"{units.seconds(spread.median)} ({units.seconds(spread.least)}{units.DASH}"
    text += f"{units.seconds(spread.most)})"
    return text if side.ratio is None else f"{text}, {units.times(side.ratio.median)}"
