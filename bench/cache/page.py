"""README.md of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.common.claims import Sample, Verdict, name_of, names
from bench.common.page import machine, table, targets

from headrace import units
from headrace.measuring.stats import Spread

_HEADINGS = ("case", "way", "first epoch", "a later epoch", "shared memory")


def render(about: Mapping[str, Any], samples: Sequence[Sample], judged: Sequence[Verdict]) -> str:
    """The whole page."""
    failed = [each for each in samples if "error" in each]
    parts = [
        "# What the layer cache gains and costs",
        *(f"**{name_of(each)} {each['stack']}: {each['error']}**" for each in failed),
        "Seconds, medians and ranges; of each run the fastest later epoch. Of checkpoints: how "
        "long the program waited for HDF5, and took in all.",
        table(_HEADINGS, [line for name in names(samples) for line in _lines(name, samples)]),
        "## Claims",
        targets(judged),
        "## Machine",
        machine(about),
    ]
    return "\n\n".join(parts) + "\n"


def _lines(name: str, samples: Sequence[Sample]) -> list[list[str]]:
    good = [each for each in samples if name_of(each) == name and "error" not in each]
    lines = []
    for way in dict.fromkeys(each["stack"] for each in good):
        own = [each for each in good if each["stack"] == way]
        memory = max(each["shared_bytes"] for each in own)
        lines.append([name, way, _spread(own, "first_wall"), _spread(own, "read_wall"),
                      units.size(memory)])  # fmt: skip
    return lines


def _spread(samples: Sequence[Sample], side: str) -> str:
    spread = Spread.of([each[side] for each in samples])
    ends = f"{units.seconds(spread.least)}{units.DASH}{units.seconds(spread.most)}"
    return f"{units.seconds(spread.median)} ({ends})"
