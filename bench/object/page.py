"""README.md of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.common.claims import Sample, Verdict, name_of, names
from bench.common.page import machine, table, targets

from headrace import units
from headrace.bench.stacks import native
from headrace.measuring.stats import Spread

from .cases import GROWTH, SUITES
from .claims import OPERATIONS

_SIDES = ("write", "read")


def render(about: Mapping[str, Any], samples: Sequence[Sample], judged: Sequence[Verdict]) -> str:
    """The whole page."""
    wrong = [f"**{name_of(each)} {each['stack']}: {each[why]}**"
             for each in samples for why in ("error", "skipped") if why in each]  # fmt: skip
    good = [each for each in samples if "error" not in each and "skipped" not in each]
    plain = [each for each in good if each["kernel"] not in (GROWTH, SUITES)]
    parts = [
        "# What the layer object gains and costs",
        *dict.fromkeys(wrong),
        "Seconds, medians and ranges, and in brackets how many times native HDF5's of the same "
        "repeat; then what the processors worked.",
        table(("case", "way", "write", "processors", "read", "processors"),
              [line for name in names(plain) for line in _lines(name, plain)]),
        "## Few and many",
        "Seconds of one operation in a new process, of the fewest and of the most.",
        table(("case", "way", "operation", "few", "many"), _growth(good)),
        "## Suites",
        table(("suite", "way", "seconds", "tests"), _suites(good)),
        "## Targets",
        targets(judged),
        "## Machine",
        machine(about),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _spread(values: Sequence[float]) -> str:
    spread = Spread.of(values)
    ends = f"{units.seconds(spread.least)}{units.DASH}{units.seconds(spread.most)}"
    return f"{units.seconds(spread.median)} ({ends})"


def _own(samples: Sequence[Sample]) -> dict[tuple[str, str], list[Sample]]:
    """By case and way."""
    found: dict[tuple[str, str], list[Sample]] = {}
    for each in samples:
        found.setdefault((name_of(each), each["stack"]), []).append(each)
    return found


def _lines(name: str, samples: Sequence[Sample]) -> list[list[str]]:
    own = _own(samples)
    lines = []
    for way in dict.fromkeys(each["stack"] for each in samples if name_of(each) == name):
        cells = [name, way]
        for side in _SIDES:
            cells += _cells(own[name, way], own.get((name, native), []), side)
        lines.append(cells)
    return lines


def _cells(own: Sequence[Sample], natively: Sequence[Sample], side: str) -> list[str]:
    """Of a side: seconds beside native's, and of processors."""
    wall, cpu = f"{side}_wall", f"{side}_cpu"
    text = _spread([each[wall] for each in own])
    theirs = {each["repeat"]: each[wall] for each in natively}
    ratios = [each[wall] / theirs[each["repeat"]] for each in own if each["repeat"] in theirs]
    if ratios and own[0]["stack"] != native:
        text += f" [{Spread.of(ratios).median:.3g}]"
    worked = [each[cpu] for each in own if cpu in each]
    return [text, units.seconds(Spread.of(worked).median) if worked else ""]


def _growth(samples: Sequence[Sample]) -> list[list[str]]:
    lines = []
    for (name, way), own in _own([one for one in samples if one["kernel"] == GROWTH]).items():
        for each in OPERATIONS:
            wall = f"{each}_wall"
            if wall in own[0]["of"][0]:
                ends = [_spread([one["of"][end][wall] for one in own]) for end in (0, 1)]
                lines.append([name, way, each.replace("_", " "), *ends])
    return lines


def _suites(samples: Sequence[Sample]) -> list[list[str]]:
    own = _own([one for one in samples if one["kernel"] == SUITES])
    return [
        [name, way, _spread([one["run_wall"] for one in each]), each[0]["tests"]]
        for (name, way), each in own.items()
    ]
