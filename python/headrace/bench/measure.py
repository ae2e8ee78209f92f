"""The run itself: all jobs in turns, each result on disk before the next begins."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from headrace.bench import child, folders, interrupt, ledger, privacy, proof, stacks
from headrace.bench.child import Outcome
from headrace.bench.interrupt import Interrupted
from headrace.bench.jobs import Job, schedule
from headrace.bench.options import no_read, peers_kernel
from headrace.bench.peers import by_case
from headrace.bench.results import Results
from headrace.bench.setup import Listing, Setup

_NO_LEDGER: Final = f"no ledgers: the layer {stacks.ledger_layer!r}, which counts, is not installed"
_UNCOUNTED: Final = (
    "no file went through the driver that counts: another driver has the place, one that a layer "
    "of the stack or the program itself has chosen"
)
_REPORT: Final = "HEADRACE_REPORT"


class Watcher(Protocol):
    """Who is told how far the run is."""

    @property
    def live(self) -> bool:
        """Whether progress() is wanted."""

    def begin(self, total: int) -> None:
        """Before the first of `total` processes."""

    def job(self, text: str) -> None:
        """A process is about to start."""

    def progress(self, done: float) -> None:
        """How much of it is done, from 0 to 1."""

    def finished(self, error: str) -> None:
        """It has ended, well when `error` is empty."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


@dataclass(slots=True)
class _Run:
    setup: Setup
    results: Results
    watcher: Watcher
    scratch: Path = field(init=False)

    def __post_init__(self) -> None:
        self.scratch = self.results.folder / f"scratch-{os.getpid()}"

    def file(self, name: str) -> Path:
        """A file that a process leaves something in; any earlier one is removed."""
        path = self.scratch / name
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        return path


def measure(setup: Setup, listing: Listing, results: Results, watcher: Watcher) -> bool:
    """Runs what is not done yet; False when it was interrupted."""
    run = _Run(setup, results, watcher)
    options = setup.options
    done = results.done()
    scheduled = schedule(listing.cases, options.repeats, options.warmup)
    jobs = [job for job in scheduled if job.key not in done]
    counts = _ledger_jobs(run, listing)
    watcher.begin(len(jobs) + len(counts))
    run.scratch.mkdir(parents=True, exist_ok=True)
    try:
        for job in jobs:
            _step(run, job, _measure_job)
        for job in counts:
            _step(run, job, _count_job)
    except Interrupted:
        return False
    finally:
        with interrupt.held():
            shutil.rmtree(run.scratch, ignore_errors=True)
    return True


def partial_folders(data: Path) -> list[Path]:
    """Remains of cases that did not come to their end, and not what others keep there."""
    return sorted(filter(folders.is_ours, data.glob("*.partial"))) if data.is_dir() else []


def _ledger_jobs(run: _Run, listing: Listing) -> list[Job]:
    if not run.setup.options.ledger:
        return []
    if not stacks.can_count(run.setup.catalogue):
        run.watcher.note(_NO_LEDGER)
        return []
    done = run.results.done_ledgers()
    jobs = [
        Job(case, stack, 0)
        for case, names in listing.cases
        if case.kernel != peers_kernel or by_case(case.name)[0].hdf5
        for stack in names
    ]
    return [job for job in jobs if job.key not in done]


def _step(run: _Run, job: Job, work: Callable[[_Run, Job], str]) -> None:
    ranks = f" on {job.case.ranks} ranks" if job.case.ranks > 1 else ""
    run.watcher.job(f"{job.case.kernel} {job.case.name}, {job.stack}{ranks}")
    run.watcher.finished(work(run, job))


def _measure_job(run: _Run, job: Job) -> str:
    stack = run.setup.stack(job.stack)
    environ = stack.environment(run.setup.environ)
    report = run.file("report")
    # The report costs a line per file opened; it is asked for only where nothing else is a proof.
    if proof.needs_report(stack, names_connector=job.case.kernel != peers_kernel):
        environ[_REPORT] = str(report)
    start = time.monotonic()
    outcome = _run_child(run, job, environ, timed=True)
    sample = _sample(run, job, outcome)
    sample["process_seconds"] = round(time.monotonic() - start, 6)
    if "error" not in sample and (wrong := proof.disproof(stack, sample, report)):
        sample["error"] = wrong
    run.results.add_sample(sample)
    return str(sample.get("error", ""))


def _count_job(run: _Run, job: Job) -> str:
    options, environ = run.setup.options, run.setup.environ
    summary = run.file("summary")
    given = run.setup.stack(job.stack).given
    stack = stacks.with_ledger(given, summary, options.config, environ, run.setup.catalogue)
    outcome = _run_child(run, job, stack.environment(environ), timed=False)
    sample = _sample(run, job, outcome)
    record = _head(job) | {"kind": "ledger"}
    error = str(sample.get("error", ""))
    connector = sample.get("connector", stack.connector)
    found = ledger.read(summary)
    if not error and connector != stack.connector:
        error = f"HDF5 used the connector {connector}, not {stack.connector}"
    if error:
        record["error"] = f"ledger: {error}"
    elif found is None:
        record["missing"] = _UNCOUNTED
    else:
        record["ledger"] = found
    run.results.add_ledger(record)
    return str(record.get("error", ""))


def _run_child(run: _Run, job: Job, environ: Mapping[str, str], *, timed: bool) -> Outcome:
    samples = run.file("samples")
    live = run.watcher.live
    baseline = timed and run.setup.options.baseline
    command = run.setup.command(job, samples, timed=timed, baseline=baseline, live=live)
    try:
        return child.run(command, environ, samples, run.watcher.progress if live else None)
    except OSError as error:
        return Outcome(127, f"{command[0]}: {error.strerror}", [])
    except Interrupted as interrupted:
        for sample in interrupted.samples:
            run.results.add_sample(_public(run, sample | _head(job) | {"error": "interrupted"}))
        raise


def _sample(run: _Run, job: Job, outcome: Outcome) -> dict[str, Any]:
    """The one sample of a process with its job's labels; with an error if anything is wrong."""
    told = outcome.samples[-1] if outcome.samples else {}
    told_ranks = told.get("ranks", 1)
    sample = told | _head(job)
    if no_read in run.setup.options.arguments:
        sample.pop("read_wall", None)
    if "error" in sample:
        pass
    elif outcome.status != 0:
        sample["error"] = outcome.reason()
    elif len(outcome.samples) != 1:
        sample["error"] = f"the program wrote {len(outcome.samples)} samples instead of one"
    elif told_ranks != job.case.ranks:
        sample["error"] = f"it ran on {told_ranks} ranks"
    elif sample.get("verified") is not True and sample.get("read_wall") is not None:
        sample["error"] = "what was read back was not verified"
    return _public(run, sample)


def _head(job: Job) -> dict[str, Any]:
    return {
        "kernel": job.case.kernel,
        "case": job.case.name,
        "stack": job.stack,
        "ranks": job.case.ranks,
        "repeat": job.repeat,
        "warmup": job.warmup,
    }


def _public(run: _Run, sample: dict[str, Any]) -> dict[str, Any]:
    """Without the paths of this machine: samples are published."""
    if isinstance(sample.get("library"), str):
        sample["library"] = Path(sample["library"]).name
    for name in ("error", "partial"):
        if isinstance(sample.get(name), str):
            sample[name] = privacy.without_folders(sample[name], run.setup.options.data)
    parameters = sample.get("parameters")
    if isinstance(parameters, dict):
        for name, value in parameters.items():
            if isinstance(value, str) and value.startswith(("/", "~", ".")):
                parameters[name] = privacy.last_part(value)
    return sample
