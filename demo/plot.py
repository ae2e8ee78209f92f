"""Bars with the range of all runs as an SVG file, made from nothing but text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from headrace.measuring.stats import Spread

_COLOURS = ("#8a94a3", "#0a7ac4", "#009e73", "#e69f00")
_LABELS, _BARS, _FIGURES = 190, 420, 170  # widths
_BAR, _GAP, _TOP = 26, 18, 70


@dataclass(frozen=True)
class Group:
    """Bars that are to be compared: a name, and seconds by the name of the way."""

    name: str
    bars: Sequence[tuple[str, Spread]]


def svg(title: str, groups: Sequence[Group]) -> str:
    """The whole file."""
    ways = list(dict.fromkeys(name for group in groups for name, _ in group.bars))
    longest = max(spread.most for group in groups for _, spread in group.bars) or 1.0
    scale = _BARS / longest
    parts = [_text(16, 26, title, 'font-weight="bold"')]
    for place, name in enumerate(ways):
        left = _LABELS + place * 150
        parts.append(_box(left, 42, 12, 12, _COLOURS[place % len(_COLOURS)]))
        parts.append(_text(left + 18, 53, name))
    top = _TOP
    for group in groups:
        middle = top + _BAR * len(group.bars) / 2 + 5
        parts.append(_text(_LABELS - 12, middle, group.name, 'text-anchor="end"'))
        for name, spread in group.bars:
            parts += _bar(top, spread, scale, _COLOURS[ways.index(name) % len(_COLOURS)])
            top += _BAR
        top += _GAP
    width = _LABELS + _BARS + _FIGURES
    parts.append(_text(_LABELS, top + 6, "seconds: median, and the range of all runs"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + 20}" '
    head += f'width="{width}" height="{top + 20}" font-family="sans-serif" font-size="14">'
    paper = f'<rect width="{width}" height="{top + 20}" fill="#fff"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def _bar(top: float, spread: Spread, scale: float, colour: str) -> list[str]:
    middle = top + (_BAR - 4) / 2
    left, right = (_LABELS + end * scale for end in (spread.least, spread.most))
    return [
        _box(_LABELS, top, spread.median * scale, _BAR - 4, colour),
        f'<path d="M{left:.1f} {middle:.1f}H{right:.1f}" stroke="#1a1f27" stroke-width="1.5"/>',
        _text(right + 8, middle + 5, f"{spread.median:.3f}"),
    ]


def _box(left: float, top: float, width: float, height: float, colour: str) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}"/>'


def _text(left: float, base: float, text: str, look: str = "") -> str:
    place = f'x="{left:.1f}" y="{base:.1f}"'
    return f'<text {place} fill="#1a1f27" {look}>{escape(text)}</text>'
