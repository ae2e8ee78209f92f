"""The figures, as SVG files of their own."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.common import panels
from bench.common.claims import Sample
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace import units
from headrace.bench.report import bars, style
from headrace.bench.stacks import native
from headrace.bench.summary import Row
from headrace.measuring.stats import Spread

from .cases import ASYNC
from .claims import judge

_SIDES = {"write": "compress", "read": "decompress"}


@dataclass(frozen=True)
class Limits:
    """Bytes per second by name, as limits.measure() tells them; codecs are on one of the cores."""

    rates: Mapping[str, float]
    cores: int


def draw(rows: Sequence[Row], samples: Sequence[Sample], limits: Limits) -> dict[str, str]:
    """File name to text."""
    colours = style.stack_colours(row.stack for row in rows)
    found: dict[str, str] = {}
    with style.settings():
        for kernel in dict.fromkeys(row.kernel for row in rows):
            mine = [row for row in rows if row.kernel == kernel]
            both = [row for row in mine if len(row.sides) == len(_SIDES)]
            if both and not kernel.startswith("curve-"):
                found[f"{kernel}.svg"] = bars.comparison(both, colours)
            if kernel == "phases":
                found["phases.svg"] = panels.parts(mine)
        found["targets.svg"] = panels.targets(judge(samples), ASYNC)
        found |= {
            f"curve-{name}.svg": _curves(name, points, limits)
            for name, points in _points(samples).items()
        }
    return {name: panels.alone(text) for name, text in found.items()}


# x, stack, kind ("plain" or "shuffle"), side -> bytes per second of each repeat
Points = dict[tuple[str, str, str], dict[float, list[float]]]


def _points(samples: Sequence[Sample]) -> dict[str, Points]:
    """The curves over threads, chunk sizes and data sizes."""
    found: dict[str, Points] = {"threads": {}, "chunks": {}, "sizes": {}}
    for sample in samples:
        if "error" in sample or sample.get("warmup"):
            continue
        for curve, x, stack in _places(sample):
            kind = "shuffle" if sample["parameters"]["shuffle"] else "plain"
            for side in _SIDES:
                rate = sample["bytes"]["written"] / sample[f"{side}_wall"]
                curves = found[curve].setdefault((stack, kind, side), {})
                curves.setdefault(x, []).append(rate)
    return {name: points for name, points in found.items() if points}


def _places(sample: Sample) -> Iterable[tuple[str, float, str]]:
    """The curves that a sample is a point of, where on them, and whose."""
    given: Mapping[str, Any] = sample["parameters"]
    kernel, stack = sample["kernel"], str(sample["stack"])
    if kernel == "curve-threads":
        if stack != native:
            yield "threads", int(stack.split()[1]), ASYNC
        else:
            yield "threads", 1, native
    elif kernel == "curve-chunks":
        yield "chunks", given["chunk"] / 1024, stack
    elif kernel == "field" and given["filter"] == "gzip-4" and stack in (native, ASYNC):
        yield "sizes", given["bytes"] / 2**20, stack


_AXES = {"threads": "threads", "chunks": "KiB a chunk", "sizes": "MiB of data"}


def _curves(name: str, points: Points, limits: Limits) -> str:
    """Writing beside reading, without shuffle and with it."""
    found = sorted({kind for _, kind, _ in points})
    figure = Figure(figsize=(11.5, 3.2 * len(found)))
    kinds = [(kind, side) for kind in found for side in _SIDES]
    for place, (kind, side) in enumerate(kinds, 1):
        axes = figure.add_subplot(len(found), 2, place)
        mine = {key[0]: each for key, each in points.items() if key[1:] == (kind, side)}
        axes.set_title(f"{side}, gzip 4{', shuffle' if kind == 'shuffle' else ''}")
        for stack, values in mine.items():
            if name == "threads" and stack == native:  # it has none
                median = statistics.median(each for rates in values.values() for each in rates)
                axes.axhline(median / 2**20, color=style.stack_colours([native])[native])
                axes.text(0.02, median / 2**20, " native", transform=axes.get_yaxis_transform())
            else:
                _curve(axes, stack, values)
        _limits(axes, name, f"{_SIDES[side]}, {kind}", mine, limits)
        axes.set_xlabel(_AXES[name])
        axes.set_ylabel("MiB/s")
        axes.grid(visible=True)
        axes.legend(fontsize=7, loc="best", frameon=True, facecolor="white", edgecolor="none")
    figure.tight_layout()
    return style.svg(figure, f"rates over {_AXES[name]}")


def _curve(axes: Axes, stack: str, values: Mapping[float, Sequence[float]]) -> None:
    """Medians with the range of the repeats."""
    colour = style.stack_colours([native, ASYNC])[stack]
    spreads = [Spread.of([rate / 2**20 for rate in values[x]]) for x in sorted(values)]
    middle = [each.median for each in spreads]
    ends = [
        [each.median - each.least for each in spreads],
        [each.most - each.median for each in spreads],
    ]
    axes.errorbar(sorted(values), middle, ends, color=colour, marker="o", capsize=3, label=stack)


def _limits(
    axes: Axes,
    name: str,
    codec: str,
    mine: Mapping[str, Mapping[float, Any]],
    limits: Limits,
) -> None:
    """What codecs, memory and system calls allow at each place of the curve, measured as well."""
    places = sorted({x for values in mine.values() for x in values})
    threads = name == "threads"
    if not threads:
        axes.set_xscale("log", base=2)
    axes.set_xticks(places, [units.count(x) for x in places])
    axes.minorticks_off()
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    workers = [min(x, limits.cores) if threads else limits.cores for x in places]
    for label, dash in (("libdeflate", "--"), ("zlib", ":")):
        rate = limits.rates.get(f"{label} {codec}")
        if rate:
            lines = [rate / 2**20 * count for count in workers]
            who = "threads" if threads else f"{limits.cores} cores"
            axes.plot(places, lines, dash, color=style.RAW, label=f"{label} x {who}")
    calls = {"copy": "-.", "pwrite": ":"} if codec.startswith("compress") else {"copy": "-."}
    for label, dash in calls.items():
        rate = limits.rates[label] / 2**20
        axes.plot(places, [rate] * len(places), dash, color="#777777", label=label)
