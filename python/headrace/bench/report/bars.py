"""Bars per case and stack, with whiskers and the raw limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headrace import units
from headrace.bench.report import layout, style
from headrace.bench.report.layout import BAR, GAP, Group
from headrace.bench.summary import Row, Side, in_seconds, sides

# A raw limit this many times beyond the bars would make them unreadable: it is written instead.
_FAR: Final = 3.0
# Of the longest bar's length: room for its figure, and for a raw limit that is far beyond.
_ROOM: Final = 1.3
_ROOM_FOR_RAW: Final = 1.6
_SMALL: Final[dict[str, Any]] = {"va": "center", "fontsize": layout.SMALL}


@dataclass(frozen=True, slots=True)
class _Panel:
    """One side of a figure. A bar of length 1 is the longest of its case."""

    axes: Axes
    side: str
    # Seconds instead of bytes per second.
    timed: bool
    room: float
    colours: Mapping[str, str]

    def value(self, measured: Side, seconds: float) -> float:
        """A time as bars show it."""
        if self.timed:
            return seconds
        return measured.bytes / seconds if seconds else 0.0

    def text(self, value: float) -> str:
        """With its unit."""
        return units.seconds(value) if self.timed else units.rate(value)

    def found(self, group: Group) -> list[Side]:
        """What was measured of a case."""
        return [row.sides[self.side] for row in group.rows if self.side in row.sides]

    def raw(self, group: Group) -> float:
        """A case's raw limit, the same for all stacks; 0 when there is none."""
        return next((self.value(each, each.raw) for each in self.found(group) if each.raw), 0.0)

    def scale(self, group: Group) -> float:
        """What a bar of length 1 stands for."""
        seconds = ((each, (each.seconds.least, each.seconds.most)) for each in self.found(group))
        most = max((self.value(each, s) for each, ends in seconds for s in ends), default=1.0)
        raw = self.raw(group)
        return max(most, raw if raw <= _FAR * most else 0.0) or 1.0


def comparison(rows: Sequence[Row], colours: Mapping[str, str]) -> str:
    """Median, range and raw limit of each case of a kernel, in bytes per second or seconds."""
    cases = layout.groups(rows)
    figure, panels = layout.panels_over(cases, layout.LABELS)
    for side, axes in zip(sides, panels, strict=True):
        panel = _panel(axes, side, rows, cases, colours)
        axes.set_title(f"{side}: {'shorter' if panel.timed else 'longer'} is better", pad=4)
        for group in cases:
            scale = panel.scale(group)
            for index, row in enumerate(group.rows):
                _bar(panel, row, group.place(index), scale)
            _limit(panel, group, scale)
        style.bare(axes)
        axes.set_xlim(0, panel.room)
    handles: list[Patch | Line2D] = [
        Patch(color=colours[name], label=name) for name in dict.fromkeys(r.stack for r in rows)
    ]
    if any(side.raw for row in rows for side in row.sides.values()):
        label = "raw: the same bytes through pwrite, pread"
        handles.append(Line2D([], [], color=style.RAW, linewidth=1.6, label=label))
    layout.legend(figure, handles)
    return style.svg(figure, f"{rows[0].kernel}: bars per case and stack")


def _panel(
    axes: Axes, side: str, rows: Sequence[Row], cases: Sequence[Group], colours: Mapping[str, str]
) -> _Panel:
    found = [row.sides[side] for row in rows if side in row.sides]
    timed = in_seconds(rows[0].kernel) or not any(each.bytes for each in found)
    panel = _Panel(axes, side, timed, _ROOM, colours)
    far = any(panel.raw(group) > panel.scale(group) for group in cases)
    return replace(panel, room=_ROOM_FOR_RAW) if far else panel


def _bar(panel: _Panel, row: Row, place: float, scale: float) -> None:
    axes = panel.axes
    measured = row.sides.get(panel.side)
    if measured is None:
        words = "failed" if row.errors else "not measured"
        axes.text(0.01, place, words, color=style.RAW, style="italic", **_SMALL)
        return
    spread = measured.seconds
    middle = panel.value(measured, spread.median)
    ends = [panel.value(measured, each) / scale for each in (spread.least, spread.most)]
    axes.barh(place, middle / scale, height=BAR * 0.86, color=panel.colours[row.stack])
    start = middle / scale
    if spread.count > 1:
        start = max(ends)
        axes.plot(ends, [place, place], color=style.INK, linewidth=0.9)
        for end in ends:
            cap = [place - BAR / 5, place + BAR / 5]
            axes.plot([end, end], cap, color=style.INK, linewidth=0.9)
    limit = panel.value(measured, measured.raw) / scale if measured.raw else 0.0
    # A figure must not be written across the mark of the raw limit.
    if start - 0.01 <= limit < start + (0.4 if measured.short else 0.25):
        start = limit
    words = panel.text(middle) + (", too short" if measured.short else "")
    words += " (some failed)" if row.errors else ""
    axes.text(start + 0.012, place, words, **_SMALL)


def _limit(panel: _Panel, group: Group, scale: float) -> None:
    limit = panel.raw(group)
    if limit > scale:
        words = f"raw {panel.text(limit)} \N{RIGHTWARDS ARROW}"
        panel.axes.text(panel.room * 0.995, group.middle, words, color=style.RAW, ha="right",
                        **_SMALL)  # fmt: skip
    elif limit:
        ends = [group.top + GAP / 3, group.top + group.height - GAP / 3]
        panel.axes.plot([limit / scale] * 2, ends, color=style.RAW, linewidth=1.6,
                        solid_capstyle="butt")  # fmt: skip
