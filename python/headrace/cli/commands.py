"""All subcommands, as Typer declares them."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

import headrace
from headrace.cli import cache, doctor, log, options, replay, settings, stripe
from headrace.cli import env as env_command
from headrace.cli import object as object_command
from headrace.cli import run as run_command
from headrace.cli.bench import command as bench
from headrace.cli.help import LayerListing
from headrace.cli.output import (
    CommandArgument,
    ConfigOption,
    StackOption,
    reports_errors,
    typer_option,
)
from headrace.cli.trace import export, report
from headrace.cli.tune import commands as tune

RUN_EXAMPLES = """
**Examples**

    headrace run -- python simulation.py

    headrace run --stack 'null(seat=vfd)' -- h5dump -H data.h5

    headrace run --config site.toml -- ./solver --steps 100

    mpirun -n 4 headrace run --stack null -- ./parallel_solver
"""

ENV_EXAMPLES = """
**Examples**

    eval "$(headrace env --stack null)"                     # bash, zsh, sh

    headrace env --stack null --shell fish | source         # fish

    eval "`headrace env --stack null --shell csh`"          # csh, tcsh

    eval "$(headrace env --unset)"                          # natively again
"""

_HELP: Final = ["-h", "--help"]

app = typer.Typer(
    name="headrace",
    help=(
        "Makes the I/O of any HDF5 program faster and visible, without touching the program.\n\n"
        "Plug-ins do the work, which HDF5 (1.14 or newer, also the copies in the wheels of h5py "
        "and netCDF4) loads by itself; `headrace` tells it to.\n\n"
        "    headrace run -- python simulation.py\n\n"
        "    headrace doctor"
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": _HELP},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headrace {headrace.__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]


@app.callback()
def _options(version: VersionOption = False) -> None:
    pass


StatsOption = Annotated[bool, typer_option(options.STATS)]
QuietOption = Annotated[bool, typer_option(options.QUIET)]
ShellOption = Annotated[str, typer_option(options.SHELL)]
UnsetOption = Annotated[bool, typer_option(options.UNSET)]

# What follows the first word of COMMAND belongs to it.
_COMMAND_LINE = {"allow_interspersed_args": False}


@app.command("run", cls=LayerListing, context_settings=_COMMAND_LINE, epilog=RUN_EXAMPLES)
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
    run_command.run(command, stack, config, stats=stats, quiet=quiet)


@app.command("env", cls=LayerListing, epilog=ENV_EXAMPLES)
@reports_errors
def env(
    stack: StackOption = None,
    config: ConfigOption = None,
    shell: ShellOption = "bash",
    unset: UnsetOption = False,
) -> None:
    """Print the environment of a stack as statements for a shell, for batch scripts.

    Everything that is started afterwards from that shell runs under the stack.
    """
    env_command.run(stack, config, shell, unset=unset)


app.command("doctor", context_settings=_COMMAND_LINE, epilog=doctor.EXAMPLES)(doctor.doctor)
# Options that are unknown here are those of a kernel.
app.command("bench", context_settings={"ignore_unknown_options": True}, epilog=bench.EXAMPLES)(
    bench.bench
)
app.command("replay", epilog=replay.EXAMPLES)(replay.replay)
app.command("recover")(replay.recover)
app.add_typer(log.app)
app.add_typer(export.app)
app.add_typer(tune.app)
app.command("fuse", epilog=stripe.EXAMPLES)(stripe.fuse)
app.command("split", epilog=stripe.EXAMPLES)(stripe.split)
app.command("restripe")(stripe.restripe)
app.add_typer(stripe.app)
app.add_typer(cache.app)
app.add_typer(object_command.app)
app.command("report")(report.report)
app.command("settings", epilog=settings.EXAMPLES)(settings.settings)


def command() -> Any:
    """All of it as one command, whose help names no types of switches."""
    root = typer.main.get_command(app)
    for _, each in walk(root, "headrace"):
        for param in each.get_params(each.context_class(each, help_option_names=_HELP)):
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
    return root


def walk(root: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command and those below it, each with all words of its name."""
    yield name, root
    for below, each in getattr(root, "commands", {}).items():
        yield from walk(each, f"{name} {below}")
