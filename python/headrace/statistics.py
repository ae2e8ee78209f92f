"""What the layers of a run say they did: the `statistics` lines of a report, added up."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import FileError

if TYPE_CHECKING:
    from rich.table import Table

_BYTES: Final = "_bytes"
_TIME: Final = "_ns"


def summed(report: Path, start: int = 0) -> dict[str, Counter[str]]:
    """By layer the totals over its processes, files and datasets, of the events after `start`."""
    totals: dict[str, Counter[str]] = {}
    for event in events(report, start):
        if event.get("event") != "statistics":
            continue
        total = totals.setdefault(str(event["name"]), Counter())
        if "dataset" in event:
            total["datasets"] += 1
        else:
            total["files"] += event["file"] != ""
        total.update(event["values"])
    return totals


def table(totals: dict[str, Counter[str]]) -> "Table":
    """For a terminal: one row a number, in the order in which the layers tell them."""
    from rich.table import Table  # noqa: PLC0415, a plain start needs none

    found = Table(box=None, show_header=False, pad_edge=False)
    for layer, total in totals.items():
        found.add_row(layer.removeprefix("headrace_"), style="bold")
        for name, value in total.items():
            found.add_row(f"  {label(name)}", _text(name, value))
        for name, text in _derived(total):
            found.add_row(f"  {name}", text)
    return found


def print_table(totals: dict[str, Counter[str]]) -> None:
    """On standard error."""
    from rich.console import Console  # noqa: PLC0415, a plain start needs none

    Console(stderr=True, soft_wrap=True, highlight=False).print(table(totals))


def length(report: Path) -> int:
    """Bytes that are in a report by now.

    Raises:
        FileError: It is a pipe, a terminal or the like, from which lines cannot be read back.
    """
    if not report.exists():
        return 0
    if not report.is_file():
        raise FileError(f"{report}: HEADRACE_REPORT must name an ordinary file for this command")
    return report.stat().st_size


def events(report: Path, start: int = 0) -> Iterable[dict[str, Any]]:
    """All in the bytes of a report after `start`.

    The file may be missing, and lines that a killed process left in halves are skipped.
    """
    if not report.exists():
        return
    with report.open("rb") as lines:
        lines.seek(start)
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _derived(total: Counter[str]) -> Iterable[tuple[str, str]]:
    """What users ask for and the layers' numbers imply."""
    if total["writes"] > total["writes_behind"] > 0:
        yield "writes merged", f"{total['writes'] - total['writes_behind']:,}"
    if total["workers_ns"] > 0:
        overlap = total["workers_beside_the_program_ns"] / total["workers_ns"]
        yield "overlap", f"{overlap:.0%} of the workers' time"


def label(name: str) -> str:
    """How it is printed; docs/guide/statistics.md has a word on each."""
    return name.removesuffix(_BYTES).removesuffix(_TIME).replace("_", " ")


def _text(name: str, value: int) -> str:
    from headrace.units import seconds, size  # noqa: PLC0415, a plain start needs none

    if name.endswith(_BYTES):
        return size(value)
    return seconds(value / 1e9) if name.endswith(_TIME) else f"{value:,}"
