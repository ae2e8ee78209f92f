"""What a benchmark does around its runs: the machine, interruptions, the table at the end."""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from headrace.bench.atomic import write_text
from headrace.measuring import machine

from . import page
from .claims import Verdict
from .measure import Case

ROOT = Path(__file__).resolve().parents[2]
_WIDTH = 130  # the table is unreadable below
Taken = TypeVar("Taken", bound=Case)


def select(cases: Iterable[Taken], patterns: Sequence[str]) -> list[Taken]:
    """Those whose kernel/name match one of the patterns."""
    return [
        case
        for case in cases
        if any(fnmatch.fnmatchcase(f"{case.kernel}/{case.name}", each) for each in patterns)
    ]


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Of `bench/NAME/run.py`, with the options that all have which measure cases by patterns."""
    made = argparse.ArgumentParser(prog=f"bench/{name}/run.py", description=description)
    made.add_argument("--repeats", type=int, default=5)
    made.add_argument(
        "--only", nargs="+", default=["*"], help="cases whose kernel/name match one of the patterns"
    )
    made.add_argument("--dir", type=Path, help="folder on the disk that is measured")
    made.add_argument("--output", type=Path, help="folder for results.json and README.md")
    made.add_argument("--list", action="store_true", help="name the cases only")
    return made


def only_listed(chosen: Sequence[Case], given: argparse.Namespace) -> int | None:
    """Names the cases where that was asked for, or there are none: the status to end with."""
    if chosen and not given.list:
        return None
    print("\n".join(f"{each.kernel}/{each.name}" for each in chosen) or "no such case")
    return 0 if chosen else 2


def write_results(folder: Path, results: Mapping[str, Any], text: str) -> None:
    """All figures and the page, in a folder that is made where it is not there. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write_text(folder / "README.md", text)


def console() -> Console:
    """Wide enough."""
    made = Console()
    made.width = max(made.width, _WIDTH)
    return made


def describe(folder: Path) -> dict[str, Any]:
    """The machine, before anything else runs."""
    about = machine.describe(folder) | machine.sources(ROOT)
    about["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    about["load_before"] = machine.load()
    return about


def collect(samples: Iterator[dict[str, Any]], ours: str, shown: Console) -> list[dict[str, Any]]:
    """All samples; tells what each was. An interruption is one of the stack `ours`."""
    found: list[dict[str, Any]] = []
    for sample in _until_interrupted(samples, ours):
        found.append(sample)
        walls = (f"{side} {sample[f'{side}_wall']:.4g} s" for side in ("write", "read")
                 if f"{side}_wall" in sample)  # fmt: skip
        told = sample.get("error") or ", ".join(walls)
        where = f"{sample['kernel']}/{sample['case']} {sample['stack']} #{sample['repeat']}"
        shown.print(f"{where}: {told}", markup=False, highlight=False, soft_wrap=True)
    return found


def _until_interrupted(samples: Iterator[dict[str, Any]], ours: str) -> Iterator[dict[str, Any]]:
    """Ends with an error in place of the rest when Ctrl-C or SIGTERM comes: nothing is lost."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    last: dict[str, Any] = {"kernel": "none", "case": "none", "stack": ours, "ranks": 1}
    try:
        for sample in samples:
            last = sample
            yield sample
    except KeyboardInterrupt:
        names = {name: last[name] for name in ("kernel", "case", "stack", "ranks")}
        yield names | {"repeat": -1, "error": "interrupted after this"}


def show(judged: Sequence[Verdict], shown: Console) -> None:
    """The table of targets."""
    targets = Table(*page.HEADINGS)
    for each in judged:
        targets.add_row(*(cell.replace("**", "") for cell in page.cells(each)))
    shown.print(targets)


def fail(failures: Sequence[str], shown: Console) -> int:
    """Tells them; the status to end with."""
    for failure in failures:
        shown.print(f"FAILED {failure}", markup=False, highlight=False, soft_wrap=True)
    return 1 if failures else 0
