"""`headrace run`: start a program under a stack."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from headrace import launcher
from headrace.cli import room
from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.messages import fail, note, warn
from headrace.cli.wait import end_like, fork, let_go, wait_for
from headrace.doctor.programs import is_mpi_launcher, obstacle, obstacle_in_python
from headrace.plan import inherited_environment, prepare, without_layers
from headrace.stack import Stack, logs_over_mpi
from headrace.statistics import events, length, print_table, summed

_REPORT: Final = "HEADRACE_REPORT"
_SUMMARY: Final = "HEADRACE_SUMMARY"
_QUIET: Final = "HEADRACE_QUIET"
_LEFT_FOR_MPI: Final = "left_for_mpi"  # as doctor.summary tells it


def run(
    command: Sequence[str],
    stack: str | None = None,
    config: str | os.PathLike[str] | None = None,
    *,
    stats: bool = False,
    quiet: bool = False,
) -> None:
    """Does what `headrace run --help` says; does not return."""
    given = inherited_environment()
    plan = prepare(stack, config, given)
    for warning in (*plan.warnings, *(_differing(config, command) if config else ())):
        warn(warning)
    environ = plan.apply(given)
    told = []
    if _logs_nothing(plan.stack, command, environ):
        warn(
            "the log layer leaves files that ranks open together to HDF5, unless mpi_logs is "
            "given, as in --stack 'log(mpi_logs=rank)'"
        )
        told.append(_LEFT_FOR_MPI)
    # One of several ranks tells for all; and one launcher, if the program starts others.
    tells = not (quiet or environ.get(_QUIET) in {"true", "1"} or _SUMMARY in given)
    tells = tells and launcher.rank(environ) == 0 and bool(plan.stack.layers)
    if text := obstacle(command, environ):
        environ = without_layers(given)
        if tells:
            note(text)
    elif tells or stats:

        def tell(lines: list[dict[str, Any]]) -> None:
            _tell(lines, told, plan.stack, command, environ)

        environ = _stay_behind(environ, tell if tells else None, stats=stats)
    try:
        execute(command, environ)
    except CannotExecuteError as error:
        fail(str(error), error.status)


def _differing(config: str | os.PathLike[str], command: Sequence[str]) -> list[str]:
    from headrace.tune.differing import differing  # noqa: PLC0415, few have a configuration

    return list(differing(Path(config), command, Path.cwd()))


def _logs_nothing(stack: Stack, command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the command is an MPI launcher, and what it starts is not logged."""
    logs = any(layer.info.name == "log" for layer in stack.layers)
    return is_mpi_launcher(command[0]) and logs and not logs_over_mpi(stack, environ)


def _stay_behind(
    environ: dict[str, str], tell: Callable[[list[dict[str, Any]]], None] | None, *, stats: bool
) -> dict[str, str]:
    """Returns in a child only, with its environment; here it waits for that, tells and ends.

    `tell` takes what the processes had to say, None that nothing is to be said.
    """
    given = environ.get(_REPORT) if stats else None
    start = length(Path(given)) if given else 0
    try:
        folder = room.make()
    except OSError:  # there is none
        return environ
    report, summary = Path(given or folder / "report").absolute(), folder / "summary"
    child = fork()
    if child == 0:
        files = {_REPORT: str(report)} if stats else {}
        return environ | files | ({_SUMMARY: str(summary)} if tell is not None else {})
    let_go()
    status = wait_for(child)
    if stats:
        totals = summed(report, start)
        if totals:
            print_table(totals)
        else:
            warn("no layer told statistics: none of them opened a file and closed it")
    if tell is not None:
        tell(list(events(summary)))
    room.remove(folder)
    raise SystemExit(end_like(status))


def _tell(
    lines: list[dict[str, Any]],
    told: list[str],
    stack: Stack,
    command: Sequence[str],
    environ: Mapping[str, str],
) -> None:
    """`told` holds the reasons that need not be said again."""
    texts: list[str] = []
    if lines:
        from headrace.doctor.summary import sentences  # noqa: PLC0415, few need it

        texts += sentences(lines, told, mpi_logs=logs_over_mpi(stack, environ))
    else:
        texts += filter(None, [obstacle_in_python(command, environ)])
    if texts:
        note("; ".join(texts))
