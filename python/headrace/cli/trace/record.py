"""`headrace trace`: run a program and tell where its time in HDF5 went; look at traces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.messages import fail, warn
from headrace.cli.recording import SUFFIX, Recording, named_after
from headrace.cli.wait import end_like, fork, let_go, wait_for
from headrace.doctor.programs import obstacle
from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare
from headrace.stack import NATIVE
from headrace.units import count, seconds, size

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from headrace.plan import Plan
    from headrace.trace.model.reader import Trace

_LAYER: Final = "trace"
_SHOWN: Final = 20  # rows of a comparison
_NEIGHBOURS: Final = 3  # kernels that a run is like


def run(
    command: Sequence[str],
    output: str | os.PathLike[str] | None = None,
    stack: str | None = None,
) -> None:
    """Does what `headrace trace run --help` says; does not return."""
    if len(command) == 1 and Path(command[0]).is_dir():
        _summarise(Path(command[0]))
        return
    if command[0].endswith(SUFFIX):
        fail(f"{command[0]}: there is no such trace")
    folder = Path(output or named_after(command)).absolute()
    given = inherited_environment()
    plan = _plan(stack, given)
    if text := obstacle(command, given):
        warn(text)
    recording = Recording(folder, given)
    environ = recording.environ(plan.apply(given))
    child = fork()
    if child == 0:
        try:
            execute(command, environ)
        except CannotExecuteError as error:
            fail(str(error), error.status)
    let_go()
    status = wait_for(child)
    recorded = recording.end()
    if recording.tells:
        if recorded:
            _summarise_after(folder)
        if text := recording.notes(command, environ, nothing=not recorded):
            warn(text)
    raise SystemExit(end_like(status))


def _plan(stack: str | None, given: Mapping[str, str]) -> Plan:
    """Of a stack that the layer `trace` is in, above all where it is not named."""
    plan = prepare(_LAYER if stack in {None, NATIVE} else stack, None, given)
    if _LAYER not in {each.info.name for each in plan.stack.layers}:
        plan = prepare(f"{_LAYER},{stack}", None, given)
    for warning in plan.warnings:
        warn(warning)
    return plan


def diff(before: Path, after: Path) -> None:
    """Does what `headrace trace diff --help` says."""
    from rich.table import Table  # noqa: PLC0415, a plain start needs none

    found = _changes(before, after)
    table = Table(box=None, pad_edge=False)
    table.add_column("object", overflow="fold")
    for heading in ("time", "calls", "read", "written", "at the storage"):
        table.add_column(heading, justify="right")
    for each in found[:_SHOWN]:
        a, b = each.before, each.after
        table.add_row(
            each.path or "no object",
            f"{seconds(a.seconds)} → {seconds(b.seconds)}",
            _both(count(a.calls), count(b.calls)),
            _both(size(a.read), size(b.read)),
            _both(size(a.written), size(b.written)),
            _both(size(a.stored_read + a.stored_written), size(b.stored_read + b.stored_written)),
        )
    console().print(table, markup=False)
    if len(found) > _SHOWN:
        console().print(f"and {count(len(found) - _SHOWN)} more, which differ less")


def similar(traces: list[Path], picture: Path | None, *, with_kernels: bool) -> None:
    """Does what `headrace trace similar --help` says."""
    opened = [read(each) for each in traces]
    from rich.table import Table  # noqa: PLC0415, a plain start needs none

    from headrace.trace.analysis import neighbours, signature  # noqa: PLC0415
    from headrace.trace.views import matrix  # noqa: PLC0415, needs what a base has not

    signatures = [signature.signature(each) for each in opened]
    found = signature.distances(signatures)
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for number in range(len(traces)):
        table.add_column(str(number + 1), justify="right")
    for number, each in enumerate(traces):
        table.add_row(f"{number + 1} {each}", *(f"{value:.3f}" for value in found[number]))
    console().print(table, markup=False)
    drawn = dict(zip(map(str, traces), signatures, strict=True))
    for each, own in zip(traces, signatures, strict=True):
        near = neighbours.nearest(own)[:_NEIGHBOURS]
        if with_kernels:
            drawn |= {one.name: one.signature for one in near}
        told = "; ".join(f"{', '.join(one.cases)} ({one.distance:.3f})" for one in near)
        console().print(f"{each} behaves like {told}", markup=False, highlight=False)
    if picture is not None:
        matrix.write(picture, list(drawn), signature.distances(list(drawn.values())))


def console() -> Console:
    """Standard output, by what a plain start needs none of."""
    from headrace.cli import output  # noqa: PLC0415

    return output.console()


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _changes(before: Path, after: Path) -> list[Any]:
    first, second = read(before), read(after)
    from headrace.trace.analysis import compare  # noqa: PLC0415, needs what a base has not

    return compare.changes(first, second)


def read(folder: Path) -> Trace:
    """A trace; FileError where what reads traces is not installed, too."""
    try:
        from headrace.trace.model import reader  # noqa: PLC0415, needs what a base has not
    except ImportError as error:
        raise FileError(
            f"{folder}: to read a trace, {error.name} is needed: pip install 'headrace[trace]'"
        ) from None
    return reader.read(folder)


def _summarise(folder: Path) -> None:
    trace = read(folder)
    from headrace.cli import output  # noqa: PLC0415, a plain start needs none
    from headrace.trace.views import terminal  # noqa: PLC0415, needs what a base has not

    out = output.error_console()
    for line in terminal.wrapped(trace, out.width):
        out.print(line, soft_wrap=True, markup=False, highlight=False)


def _summarise_after(folder: Path) -> None:
    """The program has ended, and its status counts, whatever there is to tell of the trace."""
    try:
        _summarise(folder)
    except Exception as error:
        warn(str(error))
    sys.stderr.write(f"trace: {folder}\n")
