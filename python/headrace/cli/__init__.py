"""The command `headrace`. One module per subcommand."""

import sys


def app(prog_name: str = "headrace") -> None:
    """Carries out the command line.

    Batch scripts start some commands thousands of times. Where there is nothing to explain those
    are read and carried out without Typer, whose import takes several times as long as they do.
    """
    from headrace.cli import direct  # noqa: PLC0415

    direct.carry_out(sys.argv[1:])

    from headrace.cli.commands import command  # noqa: PLC0415

    command()(prog_name=prog_name)
