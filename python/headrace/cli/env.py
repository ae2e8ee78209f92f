"""`headrace env`: the same as statements for a shell."""

import sys
from typing import Annotated

import typer

from headrace import shells
from headrace.cli.output import ConfigOption, StackOption, reports_errors, warn
from headrace.plan import inherited_environment, prepare

EXAMPLES = """
**Examples**

    eval "$(headrace env --stack null)"                     # bash, zsh, sh

    headrace env --stack null --shell fish | source         # fish

    eval "`headrace env --stack null --shell csh`"          # csh, tcsh
"""

ShellOption = Annotated[
    str,
    typer.Option(metavar="|".join(shells.names), help="Whose language to write."),
]


@reports_errors
def env(
    stack: StackOption = None, config: ConfigOption = None, shell: ShellOption = "bash"
) -> None:
    """Print the environment of a stack as statements for a shell, for batch scripts.

    Everything that is started afterwards from that shell runs under the stack.
    """
    plan = prepare(stack, config, inherited_environment())
    text = shells.statements(shell, plan.assign, plan.remove)
    for warning in plan.warnings:
        warn(warning)
    # Bytes, because file names need not be text.
    sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
