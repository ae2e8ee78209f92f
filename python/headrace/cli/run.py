"""`headrace run`: start a program under a stack."""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.output import (
    CommandArgument,
    ConfigOption,
    StackOption,
    error_console,
    fail,
    reports_errors,
    warn,
)
from headrace.cli.wait import end_like, wait_for
from headrace.plan import inherited_environment, prepare
from headrace.stack import Stack
from headrace.statistics import length, summed, table

_REPORT: Final = "HEADRACE_REPORT"
_LAUNCHERS: Final = ("mpirun", "mpiexec", "orterun", "prun", "srun", "aprun", "jsrun", "ibrun")
_MPI_LOGS: Final = "mpi_logs"
_MPI_LOGS_VARIABLE: Final = "HEADRACE_LOG_MPI_LOGS"

StatsOption = Annotated[
    bool,
    typer.Option("--stats", help="Print at the end, on standard error, what the layers did."),
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
) -> None:
    """Run a program with a stack of layers under all its HDF5 files.

    Sets HDF5_PLUGIN_PATH, HDF5_VOL_CONNECTOR, HDF5_DRIVER and HDF5_DRIVER_CONFIG as the stack
    needs, then becomes the program: its exit status, signals and terminal are its own. A stack
    that cannot work ends with status 2 before the program starts; 127 means that the program was
    not found, 126 that it cannot be executed. With `--stats` it runs as a child instead, which
    gets the signals that are sent here.
    """
    environ = inherited_environment()
    plan = prepare(stack, config, environ)
    for warning in plan.warnings:
        warn(warning)
    environ = plan.apply(environ)
    if _logs_nothing(plan.stack, command, environ):
        warn(
            f"the log layer leaves files that ranks open together to HDF5, unless {_MPI_LOGS} is "
            f"given, as in --stack 'log({_MPI_LOGS}=rank)'"
        )
    if stats:
        environ = _stay_behind(environ)
    try:
        execute(command, environ)
    except CannotExecuteError as error:
        fail(str(error), error.status)


def _logs_nothing(stack: Stack, command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the command is an MPI launcher, and what it starts is not logged."""
    launcher = Path(command[0]).name.split(".")[0]
    chosen = [layer.options for layer in stack.layers if layer.info.name == "log"]
    given = _MPI_LOGS_VARIABLE in environ or any(_MPI_LOGS in options for options in chosen)
    return launcher in _LAUNCHERS and bool(chosen) and not given


def _stay_behind(environ: dict[str, str]) -> dict[str, str]:
    """Returns in a child only, with its environment; here it waits for that, tells and ends."""
    given = environ.get(_REPORT)
    start = length(Path(given)) if given else 0
    folder = Path(tempfile.mkdtemp(prefix="headrace-"))
    report = Path(given or folder / "report").absolute()
    child = os.fork()
    if child == 0:
        return environ | {_REPORT: str(report)}
    status = wait_for(child)
    totals = summed(report, start)
    shutil.rmtree(folder)
    if totals:
        error_console().print(table(totals))
    else:
        warn("no layer told statistics: none of them opened a file and closed it")
    raise typer.Exit(end_like(status))
