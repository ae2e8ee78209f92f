"""The part of the page on many ranks, and its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.common import panels
from bench.common.page import table
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace import units
from headrace.bench.report import style
from headrace.bench.stacks import native

from .record import CASE
from .scale import (
    BEST,
    BYTES_A_SECOND,
    CACHES,
    GATHER,
    LATENCY,
    MOST,
    NONE,
    PARTS,
    PLACEMENTS,
    Point,
    Scaled,
)

FIGURE = "scale.svg"
_MEMORY = 10  # times the index, for what a rank keeps of it; see docs/guide/log.md
_TOLD = f"""Nothing here was measured on so many ranks: `headrace-model` replays the requests of
two, of {CASE.name}, for more. Each further rank writes as much as the recorded ones, to data of
its own (weak scaling). *Log* is the sum of *append* (each rank to its log), *indexes* (each rank
reads its own), *gather* (all get those of all), *data* (what each rank reads of logs to write
its share) and *settle* (HDF5's requests, metadata included). *Times* is native over log: above 1
the log is faster. It is told for both placements of the model: `append` gives each pair of ranks
a region of the file, `interleave` puts the same block of all pairs side by side; seconds are
those of `append`."""
_OF_CACHES = {
    NONE: """Each request goes to a server as HDF5 and the layer make it. This is the worst for
native HDF5, whose requests are of a few bytes: real clients gather them in memory while they hold
a lock.""",
    BEST: """The other end: what a rank writes in ascending order within a MiB is one request; logs
are read in MiB, each once by whom it concerns, and a rank's own index in two requests. No real
client does better, for native HDF5 least of all: ranks write to the same stripes and take each
other's locks.""",
}
_ASSUMED = f"""Beside [those of the model](../../../docs/guide/model.md#assumptions):

- Clients do nothing but I/O. What native HDF5 and the layer compute does not count: neither
  building and looking up indexes, which grow with the number of ranks, nor selections.
- Locks are of a stripe of 1 MiB. There is no metadata server: opening logs costs nothing, though
  a rank opens all that hold something of its share.
- The indexes go round the ranks: a rank receives {BYTES_A_SECOND / 1e6:.0f} MB/s, and each of the
  others costs it {LATENCY * 1e6:.0f} µs.
- The size of a log, of its index and of the pieces in it are those that `headrace-log` tells of
  the two ranks' logs, at the moment when all are whole: a rank is killed there. Requests to a log
  are not recorded but follow from that: appended in MiB, the first page and the index last; five
  reads for the index; one read for each write that has something in a box. They agree with what
  `strace` shows.
- The boxes that the ranks put in order grow in number with the ranks, and each has data of two
  ranks only. With a record in one chunk, as this kernel has it, one rank would write all of a
  variable: the layer gives chunks to ranks whole. This favours the log.
- The parts of the log follow one another, as ranks agree on the outcome of each. That they also
  agree for each dataset costs nothing here.
- Each log begins on a stripe of its own, and is on as many servers as the file.
"""


def render(scaled: Scaled) -> str:
    """The section."""
    parts = [
        "## Over many ranks, modelled\n\n" + _TOLD,
        *(f"### {caches.capitalize()}\n\n{_OF_CACHES[caches]}\n\n"
          f"{_table(scaled.points, caches)}\n\n{_outcome(scaled.points, caches)}"
          for caches in CACHES),
        f"![{FIGURE}]({FIGURE})",
        "### What every rank has to know\n\n" + _indexes(scaled),
        "### Assumptions\n\n" + _ASSUMED + _sampled(scaled),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _times(point: Point, caches: str) -> str:
    return f"{units.digits(point.native(caches) / point.log(caches))}x"


def _outcome(points: Sequence[Point], caches: str) -> str:
    """How the most ranks fare, and what the indexes have to do with it."""
    ranks = max(each.ranks for each in points)
    mine = [each for each in points if each.ranks == ranks]

    def span(ratios: Sequence[float]) -> str:
        return f"{units.digits(min(ratios))}x to {units.digits(max(ratios))}x"

    shares = [each.part(GATHER, caches) / each.log(caches) for each in mine]
    text = f"On {ranks:,} ranks: {span([each.native(caches) / each.log(caches) for each in mine])}."
    return text + f" Gathering all indexes is {min(shares):.0%} to {max(shares):.0%} of the log's."


def _table(points: Sequence[Point], caches: str) -> str:
    other = {(each.preset, each.ranks): each for each in points if each.placement != PLACEMENTS[0]}
    headings = ["preset", "ranks", "native", "log", *PARTS,
                *(f"times, {placement}" for placement in PLACEMENTS)]  # fmt: skip
    lines = []
    for each in sorted(
        (each for each in points if each.placement == PLACEMENTS[0]),
        key=lambda each: [one.preset for one in points].index(each.preset),
    ):
        seconds = [each.native(caches), each.log(caches)]
        seconds += [each.part(name, caches) for name in PARTS]
        times = [_times(one, caches) for one in (each, other[each.preset, each.ranks])]
        lines.append([each.preset, f"{each.ranks:,}", *map(units.seconds, seconds), *times])
    return table(headings, lines)


def _indexes(scaled: Scaled) -> str:
    largest = max(int(log["index_bytes"]) for log in scaled.logs)
    lines = [
        [f"{ranks:,}", units.size(ranks * largest), units.size(_MEMORY * ranks * largest)]
        for ranks in dict.fromkeys(each.ranks for each in scaled.points)
    ]
    text = f"The index of a rank's log has {largest:,} bytes. When all settle, each rank gets the"
    text += f" indexes of all, and keeps some {_MEMORY} times as much in memory.\n\n"
    return text + table(("ranks", "received by each", "memory of each, estimated"), lines)


def _sampled(scaled: Scaled) -> str:
    low, high = min(scaled.check.values()), max(scaled.check.values())
    most = max(each.ranks for each in scaled.points)
    text = f"- At most {MOST:,} requests are replayed at a time; of more, rows of 50 in a row that"
    text += " are spread evenly, and the time is multiplied. A sample as small as that of native"
    text += f" HDF5 for {most:,} ranks says {low:.2g} to {high:.2g} times what the whole says for"
    return text + " 10 ranks."


def _number(value: float, _place: object) -> str:
    return f"{value:g}" if value < 1e4 else f"{value:.0e}".replace("e+0", "e")


def figure(points: Sequence[Point]) -> str:
    """Seconds over ranks, a panel for each preset."""
    presets = list(dict.fromkeys(each.preset for each in points))
    colours = style.stack_colours([native, "log"])
    with style.settings():
        drawn = Figure(figsize=(11.5, 3.2))
        for place, preset in enumerate(presets):
            axes = drawn.add_subplot(1, len(presets), place + 1)
            mine = [
                each for each in points if (each.preset, each.placement) == (preset, PLACEMENTS[0])
            ]
            ranks = [each.ranks for each in mine]
            for caches, line in zip(CACHES, ("-", "--"), strict=True):
                named: Mapping[str, Any] = {"linestyle": line, "marker": "."}
                natively, logged = ([each.native(caches) for each in mine],
                                    [each.log(caches) for each in mine])  # fmt: skip
                axes.plot(
                    ranks, natively, color=colours[native], label=f"native, {caches}", **named
                )
                axes.plot(ranks, logged, color=colours["log"], label=f"log, {caches}", **named)
            axes.set(xscale="log", yscale="log", title=preset, xlabel="ranks")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(_number))
            axes.minorticks_off()
            axes.grid(visible=True)
        drawn.axes[0].set_ylabel("seconds, modelled")
        drawn.legend(*drawn.axes[0].get_legend_handles_labels(), loc="lower center", ncol=4)
        drawn.subplots_adjust(bottom=0.3, left=0.06, right=0.98, wspace=0.3)
        return panels.alone(style.svg(drawn, "seconds over ranks, native and with the log"))
