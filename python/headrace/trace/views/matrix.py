"""How far runs are apart, as a picture: a cell of SVG for each pair, the nearer the stronger."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from headrace.trace.views.output import private, replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_SIDE: Final = 52  # of a cell
_TOP: Final = 66  # where the first row begins
_LETTER: Final = 7.6  # the width of one, on average
_LONGEST: Final = 60  # letters of a name
# Viewers that know no dark scheme show the light one; a halo keeps numbers apart from their cells.
_STYLE: Final = """
text { font: 13px system-ui, "DejaVu Sans", Verdana, sans-serif; fill: #1b2430; }
.page { fill: #ffffff; }
.cell { fill: #0a6cb0; stroke: #5c6876; stroke-opacity: .3; }
.value { text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaf0; }
  .page { fill: #14181e; }
  .cell { fill: #5aaee8; stroke: #9aa6b5; }
  .value { stroke: #14181e; }
}
"""


def write(path: Path, names: Sequence[str], distances: NDArray[np.float64]) -> None:
    """A file that is either whole or not there; FileError says why it is not."""
    with (
        replacing(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="", opener=private) as out,
    ):
        out.write(picture(names, distances))


def picture(names: Sequence[str], distances: NDArray[np.float64]) -> str:
    """A row and a column for each run, in the order of the names; columns have numbers of rows."""
    labels = [f"{number} {_shown(name)}" for number, name in enumerate(names, 1)]
    left = round(max(map(len, labels), default=0) * _LETTER) + 20
    width = max(left + _SIDE * len(names) + 10, 420)
    height = _TOP + _SIDE * len(names) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        "<title>How far runs are apart</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        '<text x="10" y="24">0: does the same with its files; 1: the most that runs differ</text>',
    ]
    for row, label in enumerate(labels):
        middle = row * _SIDE + _SIDE // 2
        parts += [
            f'<text x="10" y="{_TOP + middle + 5}">{escape(label)}</text>',
            f'<text x="{left + middle}" y="{_TOP - 10}" text-anchor="middle">{row + 1}</text>',
        ]
        for column, value in enumerate(distances[row].tolist()):
            x, y = left + column * _SIDE, _TOP + row * _SIDE
            parts += [
                f'<rect class="cell" x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" '
                f'fill-opacity="{max(1 - value, 0):.3f}">'
                f"<title>{escape(f'{label}, {labels[column]}: {value:.3f}')}</title></rect>",
                f'<text class="value" x="{x + _SIDE // 2}" y="{y + _SIDE // 2 + 5}">'
                f"{value:.3f}</text>",
            ]
    return "\n".join([*parts, "</svg>", ""])


def _shown(name: str) -> str:
    """In characters that XML can hold; of a long name its end, which tells most."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return text if len(text) <= _LONGEST else f"\N{HORIZONTAL ELLIPSIS}{text[-_LONGEST:]}"
