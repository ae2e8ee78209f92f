"""How cases scale with the number of ranks."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headrace import units
from headrace.bench.report import style
from headrace.bench.summary import Row, in_seconds, sides

_WIDTH: Final = 11.5
_COLUMNS: Final = 4
_CELL: Final = 2.05
_ABOVE: Final = 0.55


def scaling(rows: Sequence[Row], colours: Mapping[str, str]) -> str:
    """A small plot per case and side: rate or time against ranks, one curve a stack."""
    plots = [
        (case, side)
        for case in dict.fromkeys(row.case for row in rows)
        for side in sides
        if any(side in row.sides for row in rows if row.case == case)
    ]
    lines = math.ceil(len(plots) / _COLUMNS)
    height = lines * _CELL + _ABOVE
    figure = Figure(figsize=(_WIDTH, height))
    for number, (case, side) in enumerate(plots):
        line, column = divmod(number, _COLUMNS)
        left = (0.62 + column * (_WIDTH - 0.1) / _COLUMNS) / _WIDTH
        bottom = (height - _ABOVE - (line + 1) * _CELL + 0.55) / height
        size = ((_WIDTH / _COLUMNS - 0.8) / _WIDTH, (_CELL - 1.0) / height)
        axes = figure.add_axes((left, bottom, *size))
        mine = [row for row in rows if row.case == case and side in row.sides]
        _curves(axes, mine, side, colours)
        axes.set_title(f"{style.broken(case, 30)}\n{side}", fontsize=7.5)
    handles = [
        Line2D([], [], color=colours[name], marker="o", markersize=4, label=name)
        for name in dict.fromkeys(row.stack for row in rows)
    ]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 1), ncol=8,
                  borderaxespad=0.1)  # fmt: skip
    return style.svg(figure, f"{rows[0].kernel}: scaling with the number of ranks")


def _curves(axes: Axes, rows: Sequence[Row], side: str, colours: Mapping[str, str]) -> None:
    timed = in_seconds(rows[0].kernel)
    ranks = sorted({row.ranks for row in rows})
    most = 0.0
    for stack in dict.fromkeys(row.stack for row in rows):
        mine = sorted((row for row in rows if row.stack == stack), key=lambda row: row.ranks)
        values = [_values(row, side, timed=timed) for row in mine]
        places = [math.log2(row.ranks) for row in mine]
        most = max([most, *(high for _, _, high in values)])
        axes.plot(places, [middle for _, middle, _ in values], marker="o", markersize=3.5,
                  linewidth=1.4, color=colours[stack])  # fmt: skip
        for place, (low, _, high) in zip(places, values, strict=True):
            axes.plot([place, place], [low, high], color=colours[stack], linewidth=0.9)
    axes.set_ylim(0, most * 1.1 or 1)
    axes.set_xlim(math.log2(ranks[0]) - 0.2, math.log2(ranks[-1]) + 0.2)
    axes.set_xticks([math.log2(n) for n in ranks], [str(n) for n in ranks])
    ticks = [most * part / 2 for part in range(3)]
    axes.set_yticks(ticks, [units.seconds(t) if timed else units.rate(t) for t in ticks],
                    fontsize=7)  # fmt: skip
    axes.set_xlabel("ranks", labelpad=1, fontsize=7.5)
    axes.grid(visible=True, axis="y")
    axes.tick_params(length=0)


def _values(row: Row, side: str, *, timed: bool) -> tuple[float, float, float]:
    """Lowest, median and highest."""
    measured = row.sides[side]
    spread = measured.seconds
    if timed:
        return spread.least, spread.median, spread.most
    low, middle, high = (
        measured.bytes / each if each else 0.0
        for each in (spread.most, spread.median, spread.least)
    )
    return low, middle, high
