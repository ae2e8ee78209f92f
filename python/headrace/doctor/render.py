"""The findings on a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.doctor.copies import Copy
from headrace.doctor.datasets import Verdict
from headrace.doctor.diagnose import NOTE, OK, PROBLEM, Finding
from headrace.doctor.evidence import Evidence

_MARKS = {
    OK: Text("ok     ", "green"),
    NOTE: Text("note   ", "yellow"),
    PROBLEM: Text("problem", "bold red"),
}
_MOST_FILES = 20


def print_copies(console: Console, copies: Iterable[tuple[str, Copy]]) -> None:
    """Copies of libhdf5, each with what loads it. Paths are not wrapped, to be copied."""
    for origin, copy in copies:
        kinds = (
            _kind(copy.parallel, "parallel", "serial"),
            _kind(copy.threadsafe, "thread-safe", "not thread-safe"),
        )
        head = Text(f"HDF5 {copy.version or 'of unknown version'}", "bold")
        head.append(f", {', '.join(kinds)}, loaded by {origin}", "not bold")
        console.print(head, soft_wrap=True)
        console.print(Text(f"  {copy.path}", "dim"), soft_wrap=True)


def print_files(console: Console, evidence: Evidence) -> None:
    """The files, and what each really went through."""
    through: dict[str, dict[str, bool]] = {}
    for call in evidence.files:
        classes = through.setdefault(call.file, {})
        label = f"{call.name} ({call.seat.upper()})"
        # To create a file HDF5 first tries to open it, so a failure before a success is no news.
        classes[label] = classes.get(label, False) or call.ok
    for file, classes in list(through.items())[:_MOST_FILES]:
        labels = [label + ("" if ok else " in vain") for label, ok in classes.items()]
        console.print(Text(f"{file} went through {', '.join(labels)}"), soft_wrap=True)
    if len(through) > _MOST_FILES:
        console.print(f"and {len(through) - _MOST_FILES} more files")


def print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """One line each, advice indented below."""
    for finding in findings:
        line = Text("  ").append_text(_MARKS[finding.level]).append(f"  {finding.text}")
        console.print(line, soft_wrap=True)
        if finding.advice:
            console.print(Text(f"           {finding.advice}", "dim"), soft_wrap=True)


def print_datasets(console: Console, verdicts: Sequence[Verdict]) -> None:
    """A table with a row for each dataset."""
    table = Table("dataset", "chunks", "filters", "taken over", box=None, pad_edge=False)
    for verdict in verdicts:
        table.add_row(
            Text(verdict.dataset),
            " x ".join(map(str, verdict.chunks or ())) or verdict.layout,
            Text(", ".join(verdict.filters) or "none"),
            verdict.text,
        )
    console.print(table)


def _kind(value: bool | None, yes: str, no: str) -> str:
    return f"unknown whether {yes}" if value is None else (yes if value else no)
