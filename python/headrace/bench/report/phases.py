"""What the time went into."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from headrace import units
from headrace.bench.report import layout, style
from headrace.bench.summary import Row, phase_names, sides

_MOST_CHARACTERS: Final = 24
# Of the longest bar's length, with room for its figure.
_ROOM: Final = 1.16
_LABELS: Final = {"close_read": "close after reading"}


def phases(rows: Sequence[Row]) -> str:
    """Stacked bars: the time by phase, one bar a stack; the longest of a case sets its scale."""
    cases = layout.groups(rows)
    names = {_shortened(row.stack) for row in rows}
    column = max(style.width(name, layout.SMALL) for name in names) + 0.1
    figure, panels = layout.panels_over(cases, layout.LABELS + column)
    for side, axes in zip(sides, panels, strict=True):
        _panel(axes, side, cases)
    # Against the panel's left edge, whatever its scale.
    to_edge = panels[0].get_yaxis_transform()
    for group in cases:
        for index, row in enumerate(group.rows):
            panels[0].text(-0.01, group.place(index), _shortened(row.stack), transform=to_edge,
                           ha="right", va="center", fontsize=layout.SMALL)  # fmt: skip
    seen = {name for row in rows for name in row.phases}
    ordered = [name for side in sides for name in phase_names[side] if name in seen]
    handles = [Patch(color=style.PHASES[n], label=_LABELS.get(n, n)) for n in ordered]
    handles.append(Patch(color=style.LINE, label="between the phases"))
    layout.legend(figure, handles)
    return style.svg(figure, f"{rows[0].kernel}: phases per case and stack")


def _panel(axes: Axes, side: str, cases: Sequence[layout.Group]) -> None:
    for group in cases:
        longest = max(_whole(row, side) for row in group.rows) or 1.0
        for index, row in enumerate(group.rows):
            place, whole, start = group.place(index), _whole(row, side), 0.0
            for name in phase_names[side]:
                length = row.phases.get(name, 0.0) / longest
                axes.barh(place, length, left=start, height=layout.BAR * 0.86,
                          color=style.PHASES[name])  # fmt: skip
                start += length
            axes.barh(place, whole / longest - start, left=start, height=layout.BAR * 0.86,
                      color=style.LINE)  # fmt: skip
            if whole:
                axes.text(whole / longest + 0.012, place, units.seconds(whole), va="center",
                          fontsize=layout.SMALL)  # fmt: skip
    style.bare(axes)
    axes.set_xlim(0, _ROOM)


def _whole(row: Row, side: str) -> float:
    """Seconds of the whole side. The medians of parts can be more than the median of the sum."""
    inside = sum(row.phases.get(name, 0.0) for name in phase_names[side])
    whole = row.sides[side].seconds.median if side in row.sides else 0.0
    return max(inside, whole)


def _shortened(stack: str) -> str:
    if len(stack) <= _MOST_CHARACTERS:
        return stack
    return stack[: _MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
