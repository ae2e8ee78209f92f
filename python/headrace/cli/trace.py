"""`headrace trace`: run a program and tell where its time in HDF5 went; look at traces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.bench.units import count, seconds, size
from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.messages import fail, warn
from headrace.cli.wait import end_like, fork, let_go, wait_for
from headrace.doctor.programs import obstacle
from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare
from headrace.stack import NATIVE

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from rich.console import Console

    from headrace.trace.reader import Trace

SUFFIX: Final = ".hrtrace"
_LAYER: Final = "trace"
_OUTPUT: Final = "HEADRACE_TRACE_OUTPUT"
_KEY: Final = "names.key"  # of the hashes in place of names
_SHOWN: Final = 20  # rows of a comparison
_NEIGHBOURS: Final = 3  # kernels that a run is like


def run(
    command: Sequence[str],
    output: str | os.PathLike[str] | None = None,
    stack: str | None = None,
) -> None:
    """Does what `headrace trace run --help` says; does not return."""
    if len(command) == 1 and command[0].endswith(SUFFIX) and Path(command[0]).is_dir():
        _summarise(Path(command[0]))
        return
    folder = Path(output or named_after(command)).absolute()
    given = inherited_environment()
    plan = prepare(_LAYER if stack in {None, NATIVE} else stack, None, given)
    if _LAYER not in {each.info.name for each in plan.stack.layers}:
        plan = prepare(f"{_LAYER},{stack}", None, given)
    for warning in plan.warnings:
        warn(warning)
    if text := obstacle(command, given):
        warn(text)
    make_room(folder)
    child = fork()
    if child == 0:
        try:
            execute(command, plan.apply(given) | {_OUTPUT: str(folder)})
        except CannotExecuteError as error:
            fail(str(error), error.status)
    let_go()
    status = wait_for(child)
    (folder / _KEY).unlink(missing_ok=True)
    if any(folder.glob("*.trace")):
        _summarise_after(folder)
    else:
        warn(f"nothing was recorded: the program has opened no HDF5 file through {_LAYER}")
    raise SystemExit(end_like(status))


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

    from headrace.trace import matrix, neighbours, signature  # noqa: PLC0415, needs what a base has not

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
    from headrace.trace import compare  # noqa: PLC0415, needs what a base has not

    return compare.changes(first, second)


def named_after(command: Sequence[str]) -> Path:
    """The folder that the trace of a program gets where no other is named."""
    scripts = [word for word in command[1:] if word.endswith(".py") and not word.startswith("-")]
    return Path(Path((scripts or command)[0]).stem + SUFFIX)


def _is_trace(file: Path) -> bool:
    if file.name == _KEY:
        return True
    with file.open("rb") as opened:
        return file.suffix == ".trace" and opened.read(4) in {b"HRTS", b""}


def make_room(folder: Path) -> None:
    """Takes the place of an earlier trace, and of nothing else."""
    try:
        others = [each for each in folder.iterdir() if not _is_trace(each)]
        if others:
            raise FileError(f"{folder}: holds {others[0].name}, which is no trace; choose --output")
        for each in folder.iterdir():
            each.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}") from None


def read(folder: Path) -> Trace:
    """A trace; FileError where what reads traces is not installed, too."""
    try:
        from headrace.trace import reader  # noqa: PLC0415, needs what a base has not
    except ImportError as error:
        raise FileError(
            f"{folder}: to read a trace, {error.name} is needed: pip install 'headrace[trace]'"
        ) from None
    return reader.read(folder)


def _summarise(folder: Path) -> None:
    trace = read(folder)
    from headrace.trace import terminal  # noqa: PLC0415, needs what a base has not

    for line in terminal.lines(trace):
        sys.stderr.write(f"{line}\n")


def _summarise_after(folder: Path) -> None:
    """The program has ended, and its status counts, whatever there is to tell of the trace."""
    try:
        _summarise(folder)
    except Exception as error:
        warn(str(error))
    sys.stderr.write(f"trace: {folder}\n")
