"""README.md of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.common.claims import Sample, Verdict, name_of, names, pairs
from bench.common.page import machine, table, targets

from headrace import units
from headrace.measuring.stats import Spread

from .cases import FOLLOWED

_HEADINGS = ("rule", "program", "followed", "gained", "told")


def render(about: Mapping[str, Any], samples: Sequence[Sample], judged: Sequence[Verdict]) -> str:
    """The whole page."""
    failed = [each for each in samples if "error" in each]
    parts = [
        "# What following advice gains",
        *(f"**{name_of(each)} {each['stack']}: {each['error']}**" for each in failed),
        "Seconds of each program, medians; gained and told: of the same repeat.",
        table(_HEADINGS, [_line(name, samples) for name in names(samples)]),
        "## Claims",
        targets(judged),
        "## Machine",
        machine(about),
    ]
    return "\n\n".join(parts) + "\n"


def _line(name: str, samples: Sequence[Sample]) -> list[str]:
    found = pairs(samples, name, FOLLOWED)
    if not found:
        return [name, *[units.DASH] * (len(_HEADINGS) - 1)]
    columns = (
        [theirs["write_wall"] for _, theirs in found],
        [ours["write_wall"] for ours, _ in found],
        [theirs["write_wall"] - ours["write_wall"] for ours, theirs in found],
        [ours["estimate"] for ours, _ in found],
    )
    return [name, *(units.seconds(Spread.of(each).median) for each in columns)]
