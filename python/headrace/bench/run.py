"""From options to results and their tables: what the command calls."""

import contextlib
import datetime
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

import headrace
from headrace.bench import folders, place, report, summary, tables, terminal
from headrace.bench.atomic import write_text
from headrace.bench.interrupt import Interrupted, rearm
from headrace.bench.measure import measure, partial_folders
from headrace.bench.options import Options
from headrace.bench.results import Results
from headrace.bench.setup import Setup, list_cases, prepare
from headrace.measuring import machine, programs


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, and the files that were written."""

    # Everything was measured.
    complete: bool
    failures: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    # Remains of cases that were not finished.
    partial: list[Path] = field(default_factory=list)
    # False when making them was interrupted.
    tables: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """Where results go, and how the run came about."""

    folder: Path
    resume: bool = False
    # As the report shows it.
    command: str = ""
    # Of a copy of the report.
    page: Path | None = None


def run(options: Options, request: Request, console: Console) -> Ending:
    """Measures and writes all tables; raises HeadraceError, Interrupted."""
    check_page(request.page)
    if not request.resume:
        Results.check_vacant(request.folder)
    setup = prepare(options)
    results = Results.resume(request.folder, options) if request.resume else None
    listing = list_cases(setup)
    made: list[Path] = []
    try:
        results, about = _begin(setup, request, results, made)
        about["problems"] = listing.problems
        results.rewrite_about(about)
        with terminal.ProgressBar(console) as bar:
            complete = measure(setup, listing, results, bar)
    finally:
        _remove_empty(made)
    about["machine"]["load_after"] = machine.load()
    results.rewrite_about(about | {"complete": complete})
    partial = partial_folders(options.data)
    rearm()
    try:
        files, failures = publish(results, console, request.page)
    except Interrupted:
        return Ending(complete, partial=partial, tables=False)
    return Ending(complete, failures, files, partial)


def check_page(page: Path | None) -> None:
    """ReportError when a report cannot be made, or not be written there."""
    if page is None:
        return
    if absent := report.missing():
        raise report.ReportError(absent)
    if page.is_dir():
        raise report.ReportError(f"--report {page}: this is a folder; name a file")
    above = next(each for each in page.absolute().parents if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise report.ReportError(f"--report {page}: {above} is no folder that can be written to")


def publish(results: Results, console: Console, page: Path | None) -> tuple[list[Path], list[str]]:
    """Writes CSV, JSON and HTML from what lies in the folder and shows the tables."""
    about, samples, ledgers = results.about(), results.samples(), results.ledgers()
    samples += about.get("problems", [])
    rows = summary.rows(samples, ledgers)
    written = {
        results.folder / "samples.csv": tables.to_csv(samples),
        results.folder / "results.json": tables.to_json(about, rows, samples),
    }
    for file, text in written.items():
        write_text(file, text)
    terminal.show(console, rows)
    failures = summary.failures(rows, ledgers)
    pages = [results.folder / "report.html", *filter(None, [page])]
    if absent := report.missing():
        console.print(f"no HTML: {absent}", style="yellow", markup=False, soft_wrap=True)
        return list(written), failures
    try:
        text = report.render(about, rows)
    except report.ReportError as error:
        return list(written), [*failures, str(error)]
    for file in pages:
        write_text(file, text)
    return [*written, *pages], failures


def _begin(
    setup: Setup, request: Request, results: Results | None, made: list[Path]
) -> tuple[Results, dict[str, Any]]:
    """The results, new ones unless they are resumed, and what run.json says.

    `made` gets the folders that are removed when they are empty after the run.
    """
    options, folder = setup.options, request.folder
    about: dict[str, Any] = {
        "options": options.public(),
        "fingerprint": options.fingerprint(),
        "command": request.command,
        "complete": False,
    }
    if results is not None:
        earlier = results.about()
        made += folders.make_data(options.data) or [folder / "data"]
        found = place.describe(options.data, folder, setup.library)
        place.check(folder, earlier.get("place", {}), found)
        about["command"] = earlier.get("command", request.command)
        return results, about | {"place": found, "machine": dict(earlier.get("machine", {}))}
    results = Results.create(folder, about)
    try:
        made += folders.make_data(options.data)
    except folders.FolderError:
        results.discard()
        raise
    about["place"] = place.describe(options.data, folder, setup.library)
    return results, about | {"machine": _machine(setup)}


def _remove_empty(made: list[Path]) -> None:
    with contextlib.suppress(OSError):  # not empty
        for folder in made:
            folder.rmdir()


def _machine(setup: Setup) -> dict[str, Any]:
    facts = machine.describe(setup.options.data)
    facts["headrace"] = headrace.__version__
    facts["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    facts["load_before"] = machine.load()
    if setup.library is not None:
        facts["hdf5"] = setup.library.version
        facts["library"] = setup.library.file.name
        facts["parallel"] = setup.library.parallel
    if setup.launcher:
        facts["mpi"] = programs.mpi_version(setup.launcher)
    return facts
