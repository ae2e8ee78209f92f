"""`headrace trace` and its subcommands, as Typer declares them; `trace` carries them out."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from headrace.cli import options
from headrace.cli.output import CommandArgument, StackOption, reports_errors, typer_option
from headrace.cli.trace import record as trace


class _RunsByDefault(TyperGroup):
    """`headrace trace -- COMMAND` is `headrace trace run -- COMMAND`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the subcommand in where there is none."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return list(super().parse_args(ctx, args))


app = typer.Typer(
    name="trace",
    cls=_RunsByDefault,
    no_args_is_help=True,
    help="Run a program and say where its time in HDF5 went: `headrace trace -- COMMAND`. "
    "Look at traces.",
)

OutputOption = Annotated[Path | None, typer_option(options.OUTPUT)]
TraceArgument = Annotated[Path, typer.Argument(metavar="TRACE", help="The folder of a trace.")]


@app.command("run", context_settings={"allow_interspersed_args": False})
@reports_errors
def run(command: CommandArgument, output: OutputOption = None, stack: StackOption = None) -> None:
    """Run a program under the layer `trace`, and say where its time in HDF5 went.

    The trace stays in a folder, which a later run of the program replaces. Given that folder in
    place of a program, tells of it again. The exit status is the program's.
    """
    trace.run(command, output, stack)


@app.command("diff")
@reports_errors
def diff(before: TraceArgument, after: TraceArgument) -> None:
    """Show for each object what it took in either of two traces, the largest change first."""
    trace.diff(before, after)


@app.command("similar")
@reports_errors
def similar(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="One or more traces.")],
    picture: Annotated[
        Path | None, typer.Option(help="Draw the distances into this file, as SVG.")
    ] = None,
    with_kernels: Annotated[
        bool, typer.Option("--with-kernels", help="Draw those kernels, too.")
    ] = False,
) -> None:
    """Show how far runs are apart: 0 for two that do the same with their files, at most 1.

    And which kernels of `headrace bench` each is most like.
    """
    trace.similar(traces, picture, with_kernels=with_kernels)
