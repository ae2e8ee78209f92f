"""The command `headrace`. One module per subcommand."""

from typing import Annotated

import typer

import headrace
from headrace.cli import (
    bench,
    doctor,
    env,
    export,
    log,
    replay,
    report,
    run,
    settings,
    stripe,
    tune,
)
from headrace.cli.help import LayerListing

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
    context_settings={"help_option_names": ["-h", "--help"]},
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


# What follows the first word of COMMAND belongs to it.
_COMMAND_LINE = {"allow_interspersed_args": False}
app.command("run", cls=LayerListing, context_settings=_COMMAND_LINE, epilog=run.EXAMPLES)(run.run)
app.command("env", cls=LayerListing, epilog=env.EXAMPLES)(env.env)
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
app.command("report")(report.report)
app.command("settings", epilog=settings.EXAMPLES)(settings.settings)

__all__ = ["app"]
