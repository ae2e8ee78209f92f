"""Colours, fonts and the way from matplotlib to SVG that a page can hold."""

import io
import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headrace.bench.stacks import native

# Stand-ins for what the page decides, as it can be light or dark.
INK: Final = "#010203"
LINE: Final = "#040506"
PAGE: Final = "#070809"
_FROM_PAGE: Final = {INK: "currentColor", LINE: "var(--line)", PAGE: "var(--page)"}

_NATIVE: Final = "#8a94a3"
# Okabe and Ito's, which people with any sight can tell apart.
_STACKS: Final = ("#0a7ac4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a400")
RAW: Final = "#d43d51"
PHASES: Final = {
    "create": "#b07aa1", "select": "#9c755f", "write": "#0a7ac4", "flush": "#56b4e9",
    "close": "#e69f00", "sync": "#d55e00", "compute": "#b8bec6", "open": "#7a5195",
    "read": "#009e73", "close_read": "#b5a400",
}  # fmt: skip
FONT: Final = 8.5
_ROOMY_CHARACTER: Final = 0.57  # width of one, as a part of the font's size
_SETTINGS: Final = {
    "svg.fonttype": "none",
    # Names of stacks and cases are no formulas, whatever they hold.
    "text.parse_math": False,
    "svg.hashsalt": "headrace",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": FONT,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.titlesize": FONT + 1,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
_number = count(1)


def stack_colours(stacks: Iterable[str]) -> dict[str, str]:
    """One for each stack, the same in all figures of a page."""
    others = [name for name in dict.fromkeys(stacks) if name != native]
    return {native: _NATIVE} | {name: _STACKS[i % len(_STACKS)] for i, name in enumerate(others)}


def settings() -> Any:
    """A context in which figures look alike."""
    return mpl.rc_context(_SETTINGS)  # type: ignore[arg-type]


def width(text: str, size: float = FONT) -> float:
    """About how many inches a line of text takes."""
    return len(text) * size * _ROOMY_CHARACTER / 72


def broken(name: str, most: int = 26) -> str:
    """A name over several lines, broken behind hyphens."""
    lines = [""]
    for part in re.findall(r"[^-_ +]*[-_ +]?", name):
        if lines[-1] and len(lines[-1]) + len(part) > most:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def clean(axes: Axes, axis: str = "x") -> None:
    """Only the lines that help to read values."""
    axes.grid(visible=True, axis=axis)  # type: ignore[arg-type]
    axes.tick_params(length=0)
    axes.set_xlim(left=0)


def bare(axes: Axes) -> None:
    """No axis: the figures stand beside the bars."""
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def svg(figure: Figure, description: str) -> str:
    """The figure as an element of a page: no prolog, no links, ids of its own."""
    stream = io.StringIO()
    metadata: Mapping[str, None] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(stream, format="svg", metadata=dict(metadata), transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    # HTML knows the namespaces by itself.
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")
    prefix = f"f{next(_number)}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)
    for stand_in, value in _FROM_PAGE.items():
        text = text.replace(stand_in, value)
    label = re.sub(r"[<>&\"]", "", description)
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
