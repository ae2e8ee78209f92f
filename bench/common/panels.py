"""Two figures of one panel each: ratios beside their targets, and what phases consist of."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from headrace import units
from headrace.bench.report import style
from headrace.bench.stacks import native
from headrace.bench.summary import Row

from .claims import Verdict
from .page import quantity

_WIDTH, _LINE, _LABELS = 11.5, 0.2, 4.3  # inches
# What a page around the figure would decide.
_ALONE = {"currentColor": "#1a1f27", "var(--line)": "#d3d9e1", "var(--page)": "#ffffff"}
_NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
_PAPER = '<rect width="100%" height="100%" fill="#ffffff"/>'
_PARTS = ("create", "select", "write", "flush", "close", "compute")


def targets(verdicts: Sequence[Verdict], ours: str) -> str:
    """How many times better than native, median and range, with a mark where it should be."""
    shown = [each for each in verdicts if each.unit == "times" and each.median and not each.at_most]
    figure = Figure(figsize=(_WIDTH, _LINE * len(shown) + 0.9))
    height = figure.get_figheight()
    axes = figure.add_axes((_LABELS / _WIDTH, 0.5 / height, 0.6, (height - 0.8) / height))
    colour = style.stack_colours([native, ours])[ours]
    for place, each in enumerate(shown):
        middle, least, most = each.median or 0.0, each.least or 0.0, each.most or 0.0
        axes.plot([1, middle], [place, place], color=colour, linewidth=5, solid_capstyle="butt")
        axes.plot([least, most], [place, place], color=style.INK, linewidth=0.9)
        axes.plot([each.bound] * 2, [place - 0.4, place + 0.4], color=style.RAW, linewidth=2)
        axes.text(max(most, each.bound) * 1.05, place, units.digits(middle), va="center", size=7)
    axes.set_xscale("log")
    axes.set_xlim(right=max((max(each.most or 1, each.bound) for each in shown), default=1) * 2)
    axes.axvline(1, color=style.INK, linewidth=0.8)
    axes.xaxis.set_major_formatter(FuncFormatter(_number))
    axes.set_yticks(range(len(shown)), [f"{each.case}: {quantity(each.claim)}" for each in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_title(f"native over {ours}, times: above 1 is better; the mark is the target")
    axes.grid(visible=True, axis="x")
    return style.svg(figure, "ratios and their targets")


def parts(rows: Sequence[Row]) -> str:
    """Seconds of each phase of writing, a bar for each case and stack."""
    figure = Figure(figsize=(_WIDTH, _LINE * len(rows) + 1))
    height = figure.get_figheight()
    axes = figure.add_axes((3 / _WIDTH, 0.5 / height, 0.72, (height - 0.9) / height))
    names = [name for name in _PARTS if any(name in row.phases for row in rows)]
    for place, row in enumerate(rows):
        start = 0.0
        for name in names:
            length = row.phases.get(name, 0.0)
            axes.barh(place, length, left=start, height=0.8, color=_colour(name))
            start += length
    axes.set_yticks(range(len(rows)), [f"{row.case}, {row.stack}" for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("seconds")
    style.clean(axes)
    handles = [Patch(color=_colour(name), label=name) for name in names]
    figure.legend(handles=handles, loc="upper left", ncol=max(1, len(names)))
    return style.svg(figure, "what the time of phases consists of")


def _colour(phase: str) -> str:
    return style.PHASES.get(phase, style.RAW)


def _number(value: float, _place: object) -> str:
    return f"{value:g}"


def alone(text: str) -> str:
    """What was made for a page as a file of its own."""
    for theirs, mine in _ALONE.items():
        text = text.replace(theirs, mine)
    head, close, rest = text.partition(">")
    return head.replace("<svg", f"<svg {_NAMESPACES}", 1) + close + _PAPER + rest
