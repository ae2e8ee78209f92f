"""`headrace cache`: decoded chunks that the processes of a node share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from headrace import units
from headrace.cache import store
from headrace.cli.output import console, fail, note, reports_errors

app = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at the decoded chunks that the programs of this user share on this node, and drop "
    "them.",
)

FilesArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="[FILE]...", help="Of these files only.")
]


@app.command("ls")
@reports_errors
def ls(files: FilesArgument = None) -> None:
    """Tell which files chunks are kept of, and how much memory they take.

    Files are named that are given, or that a program of this user has open; of all others the inode
    and the device are shown.
    """
    found = store.read_store()
    if found is None:
        note(f"no chunks are kept: there is no {store.folder() / store.NAME}")
        return
    names = _open_files() | {_key(file): str(file) for file in files or ()}
    table = Table("file", "chunks", "bytes")
    for key, one in sorted(found.files.items(), key=lambda item: -item[1].bytes):
        if files and names.get(key) not in {str(file) for file in files}:
            continue
        name = names.get(key, f"inode {one.inode} on {os.major(one.device)}:{os.minor(one.device)}")
        table.add_row(name, str(one.chunks), units.size(one.bytes))
    console().print(table)
    note(f"{units.size(found.memory)} of at most {units.size(found.bound)} in {found.path}")


@app.command("evict")
@reports_errors
def evict(files: FilesArgument = None) -> None:
    """Drop the chunks of files, or all of them with the memory that they take.

    Programs that run go on; memory that they use is freed when they end.
    """
    if files:
        note(f"{store.evict({_key(file) for file in files})} chunks are dropped")
    elif store.evict_all():
        note("all chunks are dropped")
    else:
        note("no chunks are kept")


def _key(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    return status.st_dev, status.st_ino


def _open_files() -> dict[tuple[int, int], str]:
    """By device and inode, those of processes that this user may look at."""
    found: dict[tuple[int, int], str] = {}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            status, name = link.stat(), str(link.readlink())
        except OSError:
            continue
        found[status.st_dev, status.st_ino] = name
    return found
