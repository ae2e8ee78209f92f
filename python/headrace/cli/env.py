"""`headrace env`: the same as statements for a shell."""

import os
import sys

from headrace.cli import shells
from headrace.cli.messages import warn
from headrace.plan import inherited_environment, native, prepare


def run(
    stack: str | None = None,
    config: str | os.PathLike[str] | None = None,
    shell: str = "bash",
    *,
    unset: bool = False,
) -> None:
    """Does what `headrace env --help` says."""
    given = inherited_environment()
    plan = native(given) if unset else prepare(stack, config, given)
    text = shells.statements(shell, plan.assign, plan.remove)
    for warning in plan.warnings:
        warn(warning)
    # Bytes, because file names need not be text.
    sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
    sys.stdout.buffer.flush()
