"""Runs a program and collects evidence, without changing what the program does."""

import contextlib
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from headrace.doctor.copies import Copy
from headrace.doctor.evidence import Evidence, Process, read_probe, read_report
from headrace.errors import PluginError
from headrace.inspection import inspect
from headrace.plugins import library_dir
from headrace.statistics import events

# Not HEADRACE_...: such names are settings, and this is none.
_PROBE_VARIABLE: Final = "_HEADRACE_PROBE"
_REPORT_VARIABLE: Final = "HEADRACE_REPORT"
_SUMMARY_VARIABLE: Final = "HEADRACE_SUMMARY"
_PROBE: Final = "libheadrace_probe.so"


def observe(
    command: Sequence[str], environ: Mapping[str, str], *, capture: bool = False
) -> Evidence:
    """Runs the program to its end; OSError when it cannot be started.

    Its standard streams are ours, or end up in the evidence when `capture` is set.
    """
    evidence = Evidence()
    with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as name:
        report, probe, summary = (Path(name, each) for each in ("report", "probe", "summary"))
        watched = _watched(environ, report, probe) | {_SUMMARY_VARIABLE: str(summary)}
        evidence.watched = _PROBE_VARIABLE in watched
        _run(evidence, command, watched, capture=capture)
        read_report(evidence, report)
        read_probe(evidence, probe)
        evidence.summary = list(events(summary))
    for process in evidence.processes:
        process.copies = [_complete(copy) for copy in process.copies or _named_hdf5(process)]
    return evidence


def _run(
    evidence: Evidence, command: Sequence[str], environ: Mapping[str, str], *, capture: bool
) -> None:
    pipe = subprocess.PIPE if capture else None
    with (
        _interrupts_left_to_the_program(),
        subprocess.Popen(
            list(command),
            env=dict(environ),
            stdin=subprocess.DEVNULL if capture else None,
            stdout=pipe,
            stderr=pipe,
        ) as program,
    ):
        output, errors = program.communicate()
    evidence.status = program.returncode
    evidence.output = (output or b"").decode("utf-8", "replace")
    evidence.errors = (errors or b"").decode("utf-8", "replace")


def _watched(environ: Mapping[str, str], report: Path, probe: Path) -> dict[str, str]:
    watched = {**environ, _REPORT_VARIABLE: str(report)}
    with contextlib.suppress(PluginError):
        library = str(library_dir() / _PROBE)
        # Blanks and colons separate the entries of LD_PRELOAD, there is no way to quote them.
        if Path(library).is_file() and not set(library) & {" ", ":"}:
            # Last: a sanitizer's runtime insists on being first.
            inherited = environ.get("LD_PRELOAD", "")
            watched["LD_PRELOAD"] = f"{inherited}:{library}".lstrip(":")
            watched[_PROBE_VARIABLE] = str(probe)
    return watched


@contextlib.contextmanager
def _interrupts_left_to_the_program() -> Iterator[None]:
    """Ctrl-C goes to the whole terminal: the program decides, and we report what became of it.

    A handler that does nothing, unlike an ignored signal, is not inherited by the program.
    """
    numbers = (signal.SIGINT, signal.SIGQUIT)
    previous = {number: signal.getsignal(number) for number in numbers}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _named_hdf5(process: Process) -> list[Copy]:
    """A forked child tells what it has loaded, but not what that is."""
    files = [name for name in process.objects if "hdf5" in Path(name).name.lower()]
    answers = inspect([("hdf5", Path(file)) for file in files])
    return [
        Copy(file, facts["version"], None, facts["parallel"], facts["threadsafe"])
        for file, facts in ((f, a.value) for f, a in zip(files, answers, strict=True))
        if facts is not None
    ]


def _complete(copy: Copy) -> Copy:
    """Asks the file for what the process could not be asked at the time, as in a crash."""
    if copy.threadsafe is not None:
        return copy
    (answer,) = inspect([("hdf5", Path(copy.path))])
    facts = answer.value or {}
    threadsafe = facts.get("threadsafe")
    return Copy(copy.path, copy.version, copy.initialised, copy.parallel, threadsafe)


def without_stack(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as it would be for a program that runs on HDF5 alone."""
    ours = ("HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG", "HDF5_PLUGIN_PATH")
    return {
        name: text
        for name, text in environ.items()
        if name not in ours and not name.startswith("HEADRACE")
    }
