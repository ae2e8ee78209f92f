"""Panels over cases: names on the left, a row for each stack, writing beside reading."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headrace.bench.report import style
from headrace.bench.summary import Row, sides

# Inches.
BAR: Final = 0.17
GAP: Final = 0.13
LABELS: Final = 1.95
_WIDTH: Final = 11.5
_LINE: Final = 0.15  # of text
_ABOVE: Final = 0.62
_BELOW: Final = 0.08
_MIDDLE: Final = 0.18
# Points.
SMALL: Final = 7.0


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of a case, and where its bars begin, in inches from the top."""

    case: str
    rows: Sequence[Row]
    top: float

    @property
    def label(self) -> str:
        """The case's name, broken."""
        return style.broken(self.case)

    @property
    def height(self) -> float:
        """In inches."""
        text = _LINE * (self.label.count("\n") + 1)
        return max(BAR * len(self.rows), text) + GAP

    def place(self, index: int) -> float:
        """The middle of a bar."""
        unused = self.height - BAR * len(self.rows)
        return self.top + unused / 2 + BAR * (index + 0.5)

    @property
    def middle(self) -> float:
        """Inches from the top."""
        return self.top + self.height / 2


def groups(rows: Sequence[Row]) -> list[Group]:
    """The rows by case, from the top downwards."""
    found: list[Group] = []
    top = 0.0
    for case in dict.fromkeys(row.case for row in rows):
        group = Group(case, [row for row in rows if row.case == case], top)
        found.append(group)
        top += group.height
    return found


def panels_over(cases: Sequence[Group], left: float) -> tuple[Figure, list[Axes]]:
    """Two panels, writing and reading, over the same cases."""
    inside = cases[-1].top + cases[-1].height
    height = inside + _ABOVE + _BELOW
    figure = Figure(figsize=(_WIDTH, height))
    panel = (_WIDTH - left - _MIDDLE - 0.1) / 2
    panels = []
    for number, side in enumerate(sides):
        x = left + number * (panel + _MIDDLE)
        axes = figure.add_axes((x / _WIDTH, _BELOW / height, panel / _WIDTH, inside / height))
        axes.set_ylim(inside, 0)
        axes.set_yticks([])
        axes.set_title(side, pad=4)
        panels.append(axes)
    for group in cases:
        if group.top:
            for axes in panels:
                axes.axhline(group.top, color=style.LINE, linewidth=0.6)
        figure.text(
            0.05 / _WIDTH,
            1 - (_ABOVE + group.middle) / height,
            group.label,
            va="center",
            linespacing=1.15,
        )
    return figure, panels


def legend(figure: Figure, handles: Sequence[Patch | Line2D]) -> None:
    """In the upper left corner."""
    figure.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(0.0, 1.0),
        ncol=8,
        handlelength=1.2,
        columnspacing=1.4,
        borderaxespad=0.1,
    )
