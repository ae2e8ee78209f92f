"""Bars per case and stack, with whiskers and the raw limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headrace.bench import units
from headrace.bench.report import layout, style
from headrace.bench.report.layout import BAR, GAP, Group
from headrace.bench.summary import Row, Side, in_seconds, sides

_UNITS: Final = {"s": 1.0, "ms": 1e-3, "GiB/s": 2.0**30, "MiB/s": 2.0**20, "KiB/s": 2.0**10}
# A raw limit this many times beyond the bars would make them unreadable: it is written instead.
_FAR: Final = 3.0
_SMALL: Final[dict[str, Any]] = {"va": "center", "fontsize": layout.SMALL}


@dataclass(frozen=True, slots=True)
class _Panel:
    """One side of a figure: its unit, and how far the axis has to reach."""

    axes: Axes
    side: str
    unit: str
    most: float
    raw: float
    colours: Mapping[str, str]

    def value(self, measured: Side, seconds: float) -> float:
        """A time as the axis shows it."""
        if self.unit in ("s", "ms"):
            return seconds / _UNITS[self.unit]
        return measured.bytes / seconds / _UNITS[self.unit] if seconds else 0.0


def comparison(rows: Sequence[Row], colours: Mapping[str, str]) -> str:
    """Median, range and raw limit of each case of a kernel, in bytes per second or seconds."""
    cases = layout.groups(rows)
    figure, panels = layout.panels_over(cases, layout.LABELS)
    for side, axes in zip(sides, panels, strict=True):
        panel = _panel(axes, side, rows, colours)
        better = "shorter" if panel.unit in ("s", "ms") else "longer"
        axes.set_xlabel(f"{panel.unit}, {better} is better")
        # Room for the figure beside the longest bar, and for raw limits that are far beyond.
        axes.set_xlim(0, panel.most * (1.22 if panel.raw <= panel.most else 1.45))
        for group in cases:
            for index, row in enumerate(group.rows):
                _bar(panel, row, group.place(index))
            _limit(panel, group)
        style.clean(axes)
    handles: list[Patch | Line2D] = [
        Patch(color=colours[name], label=name) for name in dict.fromkeys(r.stack for r in rows)
    ]
    if any(side.raw for row in rows for side in row.sides.values()):
        label = "raw: the same bytes through pwrite, pread"
        handles.append(Line2D([], [], color=style.RAW, linewidth=1.6, label=label))
    layout.legend(figure, handles)
    return style.svg(figure, f"{rows[0].kernel}: bars per case and stack")


def _panel(axes: Axes, side: str, rows: Sequence[Row], colours: Mapping[str, str]) -> _Panel:
    found = [row.sides[side] for row in rows if side in row.sides]
    if in_seconds(rows[0].kernel) or not any(each.bytes for each in found):
        longest = max((each.seconds.most for each in found), default=1.0)
        unit = "s" if longest >= 1 else "ms"
    else:
        fastest = max(each.bytes / (each.seconds.least or 1.0) for each in found)
        rates = ("GiB/s", "MiB/s", "KiB/s")
        unit = next((name for name in rates if fastest >= _UNITS[name]), rates[-1])
    panel = _Panel(axes, side, unit, 1.0, 0.0, colours)
    values = [
        panel.value(each, seconds)
        for each in found
        for seconds in (each.seconds.least, each.seconds.most)
    ]
    most = max(values, default=1.0) or 1.0
    raw = max((panel.value(each, each.raw) for each in found if each.raw), default=0.0)
    return _Panel(axes, side, unit, max(most, raw) if raw <= _FAR * most else most, raw, colours)


def _bar(panel: _Panel, row: Row, place: float) -> None:
    axes, most = panel.axes, panel.most
    measured = row.sides.get(panel.side)
    if measured is None:
        words = "failed" if row.errors else "not measured"
        axes.text(most * 0.01, place, words, color=style.RAW, style="italic", **_SMALL)
        return
    spread = measured.seconds
    middle = panel.value(measured, spread.median)
    ends = [panel.value(measured, each) for each in (spread.least, spread.most)]
    axes.barh(place, middle, height=BAR * 0.86, color=panel.colours[row.stack])
    start = middle
    if spread.count > 1:
        start = max(ends)
        axes.plot(ends, [place, place], color=style.INK, linewidth=0.9)
        for end in ends:
            cap = [place - BAR / 5, place + BAR / 5]
            axes.plot([end, end], cap, color=style.INK, linewidth=0.9)
    limit = panel.value(measured, measured.raw) if measured.raw else 0.0
    # A figure must not be written across the mark of the raw limit.
    if start - most * 0.01 <= limit < start + most * 0.16:
        start = limit
    some = " (some failed)" if row.errors else ""
    axes.text(start + most * 0.012, place, units.digits(middle) + some, **_SMALL)


def _limit(panel: _Panel, group: Group) -> None:
    found = [row.sides[panel.side] for row in group.rows if panel.side in row.sides]
    for side in found:
        if side.raw:
            limit = panel.value(side, side.raw)
            if limit > panel.most:
                words = f"raw {units.digits(limit)} \N{RIGHTWARDS ARROW}"
                panel.axes.text(panel.most * 1.44, group.middle, words, color=style.RAW,
                                ha="right", **_SMALL)  # fmt: skip
                return
            ends = [group.top + GAP / 3, group.top + group.height - GAP / 3]
            panel.axes.plot([limit, limit], ends, color=style.RAW, linewidth=1.6,
                            solid_capstyle="butt")  # fmt: skip
            return
