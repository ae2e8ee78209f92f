"""`headrace run`: start a program under a stack."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from headrace import launcher
from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.output import (
    CommandArgument,
    ConfigOption,
    StackOption,
    error_console,
    fail,
    note,
    reports_errors,
    warn,
)
from headrace.cli.wait import end_like, fork, let_go, wait_for
from headrace.doctor.programs import is_mpi_launcher, obstacle, obstacle_in_python
from headrace.doctor.summary import mpi_logs_reason, sentences
from headrace.plan import inherited_environment, prepare, without_layers
from headrace.stack import Stack
from headrace.statistics import events, length, summed, table
from headrace.tune.differing import differing

_REPORT: Final = "HEADRACE_REPORT"
_SUMMARY: Final = "HEADRACE_SUMMARY"
_QUIET: Final = "HEADRACE_QUIET"
_MPI_LOGS: Final = "mpi_logs"
_MPI_LOGS_VARIABLE: Final = "HEADRACE_LOG_MPI_LOGS"

StatsOption = Annotated[
    bool,
    typer.Option("--stats", help="Print at the end, on standard error, what the layers did."),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Say nothing when files went past the layers, and become the program at once; "
        "HEADRACE_QUIET=true does the same.",
    ),
]

EXAMPLES = """
**Examples**

    headrace run -- python simulation.py

    headrace run --stack 'null(seat=vfd)' -- h5dump -H data.h5

    headrace run --config site.toml -- ./solver --steps 100

    mpirun -n 4 headrace run --stack null -- ./parallel_solver
"""


@reports_errors
def run(
    command: CommandArgument,
    stack: StackOption = None,
    config: ConfigOption = None,
    stats: StatsOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run a program with a stack of layers under all its HDF5 files.

    Sets HDF5_PLUGIN_PATH, HDF5_VOL_CONNECTOR, HDF5_DRIVER and HDF5_DRIVER_CONFIG as the stack
    needs. A stack that cannot work ends with status 2 before the program starts; 127 means that
    the program was not found, 126 that it cannot be executed. The program runs as a child, which
    gets the signals that are sent here and whose exit status is passed on. When it has ended, one
    line on standard error says so if its files, or most of what it wrote, went past the layers.
    """
    given = inherited_environment()
    plan = prepare(stack, config, given)
    for warning in (*plan.warnings, *(differing(config, command, Path.cwd()) if config else ())):
        warn(warning)
    environ = plan.apply(given)
    told = []
    if _logs_nothing(plan.stack, command, environ):
        warn(
            f"the log layer leaves files that ranks open together to HDF5, unless {_MPI_LOGS} is "
            f"given, as in --stack 'log({_MPI_LOGS}=rank)'"
        )
        told.append(mpi_logs_reason)
    # One of several ranks tells for all; and one launcher, if the program starts others.
    tells = not (quiet or environ.get(_QUIET) in {"true", "1"} or _SUMMARY in given)
    tells = tells and launcher.rank(environ) == 0
    if text := obstacle(command, environ):
        environ = without_layers(given)
        if tells:
            note(text)
    elif tells or stats:
        environ = _stay_behind(command, environ, told if tells else None, stats=stats)
    try:
        execute(command, environ)
    except CannotExecuteError as error:
        fail(str(error), error.status)


def _logs_nothing(stack: Stack, command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the command is an MPI launcher, and what it starts is not logged."""
    chosen = [layer.options for layer in stack.layers if layer.info.name == "log"]
    given = _MPI_LOGS_VARIABLE in environ or any(_MPI_LOGS in options for options in chosen)
    return is_mpi_launcher(command[0]) and bool(chosen) and not given


def _stay_behind(
    command: Sequence[str], environ: dict[str, str], told: list[str] | None, *, stats: bool
) -> dict[str, str]:
    """Returns in a child only, with its environment; here it waits for that, tells and ends.

    `told` holds what need not be said at the end, None that nothing is to be said.
    """
    given = environ.get(_REPORT) if stats else None
    start = length(Path(given)) if given else 0
    folder = _folder()
    if folder is None:
        return environ
    report, summary = Path(given or folder / "report").absolute(), folder / "summary"
    child = fork()
    if child == 0:
        files = {_REPORT: str(report)} if stats else {}
        return environ | files | ({_SUMMARY: str(summary)} if told is not None else {})
    let_go()
    status = wait_for(child)
    if stats:
        _print_statistics(summed(report, start))
    if told is not None:
        _tell(command, environ, list(events(summary)), told)
    shutil.rmtree(folder, ignore_errors=True)
    raise typer.Exit(end_like(status))


def _folder() -> Path | None:
    """For what the program's processes tell; none where there is no room for it."""
    try:
        return Path(tempfile.mkdtemp(prefix="headrace-"))
    except OSError:
        return None


def _print_statistics(totals: dict[str, Counter[str]]) -> None:
    if totals:
        error_console().print(table(totals))
    else:
        warn("no layer told statistics: none of them opened a file and closed it")


def _tell(
    command: Sequence[str], environ: Mapping[str, str], lines: list[dict[str, Any]], told: list[str]
) -> None:
    texts = list(sentences(lines, told))
    if not lines:
        texts += filter(None, [obstacle_in_python(command, environ)])
    if texts:
        note("; ".join(texts))
