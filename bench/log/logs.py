"""The part of the page on logs that wait."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from bench.common.claims import Sample, name_of
from bench.common.page import table

from headrace import units

from .cases import KEPT
from .claims import REQUEST

_HEADINGS = ("case", "writes", "requests", "bytes of the index", f"{REQUEST} a request", "index",
             "bytes of data", "replay")  # fmt: skip
_TOLD = f"""What `headrace log ls` tells of the logs after `{KEPT[0].name}`, and of those of all
ranks together after `{KEPT[1].name}`. A request is a run of
elements; as it comes it takes {REQUEST} bytes to say where it begins and how long it is.
`headrace replay` reads everything back; its time is that of the whole program."""


_KEPT = {way.name for way in KEPT}


def describe(samples: Sequence[Sample]) -> str:
    """Medians by case."""
    good = [
        each
        for each in samples
        if each["stack"] in _KEPT and "log" in each and not each.get("warmup")
    ]
    cases = dict.fromkeys(map(name_of, good))
    lines = [_line(case, [each for each in good if name_of(each) == case]) for case in cases]
    return f"{_TOLD}\n\n{table(_HEADINGS, lines)}"


def _line(case: str, samples: Sequence[Sample]) -> list[str]:
    def middle(name: str) -> Any:
        return statistics.median(each["log"][name] for each in samples)

    requests, index = REQUEST * middle("rows"), middle("index_bytes")
    counts = (middle("writes"), middle("rows"), index, requests)
    return [
        case,
        *(f"{count:,.0f}" for count in counts),
        f"1/{requests / index:.3g}",
        f"{middle('data_bytes'):,.0f}",
        units.seconds(statistics.median(each["replay"] for each in samples)),
    ]
