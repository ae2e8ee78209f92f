"""From evidence to findings. One rule is one function; none runs or reads anything but its case."""

import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.doctor.copies import Copy
from headrace.doctor.evidence import Evidence
from headrace.doctor.executable import Embedded, find_embedded, is_static
from headrace.doctor.programs import oldest_usable
from headrace.doctor.summary import mpi_remedy, sentences, without_mpi
from headrace.stack import Stack, logs_over_mpi

OK: Final = "ok"
NOTE: Final = "note"
PROBLEM: Final = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence on what was found and, where it helps, what to do."""

    level: str
    text: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A program that ran, or was to run, under a stack."""

    command: Sequence[str]
    environ: Mapping[str, str]
    stack: Stack
    evidence: Evidence
    # The MPIs that there are modules for; None where that does not matter.
    mpi_modules: Sequence[str] | None = None

    def usable(self) -> list[Copy]:
        """The copies of libhdf5 that can load our plug-ins."""
        copies = self.evidence.copies()
        return [copy for copy in copies if not copy.number() or copy.number() >= oldest_usable]

    def expected(self) -> set[tuple[str, str]]:
        """(seat, name) of each class that has to be loaded when HDF5 starts."""
        seats = [("vol", seat) for seat in self.stack.connectors]
        seats += [("vfd", seat) for seat in self.stack.drivers]
        return {(kind, seat.name) for kind, seat in seats if seat.file is not None}


def diagnose(case: Case) -> list[Finding]:
    """All findings, the good news among them, in the order in which things happen."""
    return [finding for rule in _RULES for finding in rule(case)]


def _end(case: Case) -> Iterator[Finding]:
    status = case.evidence.status or 0
    crashes = [("the program", -status)] if status < 0 else []
    crashes += [(p.exe, p.signal) for p in case.evidence.processes if p.how == "signal"]
    if status > 0:
        yield Finding(NOTE, f"the program ended with status {status}")
    if crashes:
        who, number = crashes[0]
        advice = ""
        if not case.evidence.loads:
            advice = "h5py and some other programs crash when HDF5 could not load a connector"
        yield Finding(PROBLEM, f"{who} ended by {_signal_name(number)}", advice)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _visible(case: Case) -> Iterator[Finding]:
    if case.evidence.processes or case.evidence.loads:
        return
    file = shutil.which(case.command[0], path=case.environ.get("PATH"))
    if file is not None and is_static(Path(file)):
        yield Finding(
            PROBLEM,
            f"{file} is linked statically: it cannot load plug-ins of HDF5",
            "link it dynamically, and HDF5 as a shared library",
        )
        yield from _embedded([Path(file)])
    elif not case.evidence.watched:
        yield Finding(NOTE, "the program was not watched: the probe library is not installed")
    else:
        yield Finding(
            NOTE,
            "the program could not be watched: it did not load the probe",
            "programs with raised privileges, or that clear their environment, do not",
        )


def _hdf5(case: Case) -> Iterator[Finding]:
    evidence = case.evidence
    if evidence.copies() or not evidence.processes:
        return
    names = {p.exe for p in evidence.processes} | {o for p in evidence.processes for o in p.objects}
    embedded = list(_embedded([Path(name) for name in sorted(names)]))
    yield from embedded
    if not embedded and all(process.how is not None for process in evidence.processes):
        yield Finding(PROBLEM, "no process of the program loaded a libhdf5", "it uses no HDF5")
    elif not embedded:
        yield Finding(
            NOTE,
            "no libhdf5 was seen, but some processes were killed before they could tell",
        )


def _embedded(files: list[Path]) -> Iterator[Finding]:
    found: list[Embedded] = find_embedded(files)
    for each in found:
        yield Finding(
            PROBLEM,
            f"{each.file} has HDF5 {each.version} linked into it statically and hides its symbols: "
            "plug-ins cannot reach it",
            "build it with a shared libhdf5",
        )


def _too_old(case: Case) -> Iterator[Finding]:
    for copy in case.evidence.copies():
        if copy.number() and copy.number() < oldest_usable:
            yield Finding(
                PROBLEM,
                f"{copy.path} is HDF5 {copy.version}: too old for Headrace, which needs 1.14 or "
                "newer",
                "h5py from PyPI carries a recent HDF5; for a program, rebuild it",
            )


def _loaded(case: Case) -> Iterator[Finding]:
    for copy in case.usable():
        loaded = {
            (load.seat, load.name)
            for load in case.evidence.loads
            if Path(load.hdf5).resolve() == Path(copy.path)
        }
        for seat, name in sorted(loaded):
            yield Finding(OK, f"HDF5 {copy.version} loaded {name} ({seat.upper()})")
        missing = sorted(f"{name} ({seat.upper()})" for seat, name in case.expected() - loaded)
        if not missing:
            continue
        if copy.initialised is False:
            yield Finding(NOTE, f"{copy.path} was loaded but not used: no file was opened with it")
            continue
        refusals = [r for r in case.evidence.refusals if Path(r.hdf5).resolve() == Path(copy.path)]
        if refusals:
            yield Finding(PROBLEM, refusals[0].why, _PARTLY_EXPORTED)
            continue
        reasons = list(_changes(case, copy)) or [_UNSEEN_REASONS]
        yield Finding(PROBLEM, f"{copy.path} did not load {', '.join(missing)}", "; ".join(reasons))


_PARTLY_EXPORTED: Final = (
    "the program runs natively; a program that HDF5 is linked into statically must export all of "
    "it (-rdynamic -Wl,--whole-archive), or be linked with a shared libhdf5"
)


_UNSEEN_REASONS: Final = (
    "the variables are as they should be, so either HDF5 was initialised before they were set, or "
    "the program forbids plug-ins with H5PLset_loading_state()"
)


def _changes(case: Case, copy: Copy) -> Iterator[str]:
    """How the environment of the processes with this copy differs from what was given to them."""
    for process in case.evidence.holders(copy):
        for name, text in process.environment.items():
            if text == case.environ.get(name):
                continue
            state = "was unset" if text is None else f"was changed to {text}"
            yield f"{name} {state} in {Path(process.exe).name} (process {process.pid})"


def _files(case: Case) -> Iterator[Finding]:
    evidence = case.evidence
    if not evidence.loads:
        return
    through = {(call.seat, call.name) for call in evidence.files if call.ok}
    if not evidence.files:
        yield Finding(
            PROBLEM,
            "the plug-ins were loaded, but no file went through them",
            "either the program opened no file, or it names a connector or driver of its own "
            "(H5Pset_vol, H5Pset_driver, h5py's driver=), which beats the environment",
        )
    for seat, name in sorted(case.expected() - through if evidence.files else ()):
        yield Finding(
            PROBLEM,
            f"no file went through {name} ({seat.upper()})",
            "the program chooses a connector or driver of its own for its files",
        )
    for seat, name in sorted(through):
        calls = [call for call in evidence.files if (call.seat, call.name) == (seat, name)]
        count = len({call.file for call in calls if call.ok})
        plural = "file" if count == 1 else "files"
        yield Finding(OK, f"{count} {plural} went through {name} ({seat.upper()})")


def _drivers_of_connectors(case: Case) -> Iterator[Finding]:
    ok = [call for call in case.evidence.files if call.ok]
    through_vfd = {call.name for call in ok if call.seat == "vfd"}
    if not any(call.seat == "vol" for call in ok):
        return
    for layer in case.stack.layers:
        drivers = {seat.name for seat in (layer.info.vfd, layer.info.vfd_mpi) if seat}
        if layer.seat == "both" and drivers and not drivers & through_vfd:
            yield Finding(
                NOTE,
                f"the driver of layer {layer.info.name} stayed out: the files use a driver other "
                "than sec2 and mpio",
            )


def _mpi(case: Case) -> Iterator[Finding]:
    parallel = [copy for copy in case.usable() if copy.parallel]
    if parallel and case.mpi_modules is not None and not case.mpi_modules:
        yield Finding(NOTE, f"{parallel[0].path} is for MPI: {without_mpi}", mpi_remedy)


def _taken(case: Case) -> Iterator[Finding]:
    """What `headrace run` would say at the end; refusals have been told above."""
    lines = [line for line in case.evidence.summary if line.get("event") == "summary"]
    for text in sentences(lines, mpi_logs=logs_over_mpi(case.stack, case.environ)):
        yield Finding(NOTE, text)


_RULES: Final[tuple[Callable[[Case], Iterator[Finding]], ...]] = (
    _end,
    _visible,
    _hdf5,
    _too_old,
    _loaded,
    _files,
    _drivers_of_connectors,
    _mpi,
    _taken,
)
