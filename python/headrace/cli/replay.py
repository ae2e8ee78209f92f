"""`headrace replay` and `headrace recover`: what is in a log comes into its file."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.output import console, reports_errors, warn
from headrace.replay import replay as put_in_order

EXAMPLES = """
**Examples**

    headrace run --stack 'log(canonicalise=later)' -- ./simulation

    headrace replay out.h5
"""

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The HDF5 file.")]
SyncOption = Annotated[
    bool, typer.Option("--sync", help="Make sure that the file survives a power cut, too.")
]


@reports_errors
def replay(file: FileArgument, sync: SyncOption = False) -> None:
    """Put the log that a program has left beside a file in order in that file.

    Everything is read back and compared before the log is removed, but for datasets with filters
    that may change values.
    """
    _replay(file, sync=sync, after_crash=False)


@reports_errors
def recover(file: FileArgument, sync: SyncOption = False) -> None:
    """The same for the file of a program that has crashed: all that its flushes cover."""
    _replay(file, sync=sync, after_crash=True)


def _replay(file: Path, *, sync: bool, after_crash: bool) -> None:
    done = put_in_order(file, sync=sync, after_crash=after_crash)
    for log in done.foreign:
        warn(f"log {log} does not belong to {file}")
    for dataset, cause in done.unverified:
        warn(f"dataset {dataset} was not compared: values may change in {cause}")
    text = "has all that was in its log" if done.logs else "has no log"
    console().print(f"{file} {text}", soft_wrap=True, markup=False, highlight=False)
    if done.dropped:
        warn(f"{done.dropped} bytes of the log were after the last flush, and are lost")
