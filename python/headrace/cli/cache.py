"""`headrace cache`: decoded chunks that processes of a node share, and what waits on its disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from headrace import units
from headrace.cache import store
from headrace.cache.fill import fill
from headrace.cli.output import StackOption, console, fail, note, reports_errors, warn
from headrace.errors import FileError
from headrace.logs.replay import replay
from headrace.logs.staged import gather, remove_moved, staged_logs

app = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at the decoded chunks that the programs of this user share on this node, in memory "
    "and on its disk, and at what they have written there; bring it to its file, fill, check and "
    "drop it.",
)

FilesArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="[FILE]...", help="Of these files only.")
]
PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path",
        metavar="FOLDER",
        help="The folder on the node's disk that the option `path` of the layer `cache` names.",
        envvar="HEADRACE_CACHE_PATH",
    ),
]
LogsOption = Annotated[
    Path | None,
    typer.Option(
        "--path",
        metavar="FOLDER",
        help="The folder on the node's disk that the option `path` of the layer `log` names.",
        envvar="HEADRACE_LOG_PATH",
    ),
]


@app.command("ls")
@reports_errors
def ls(
    files: FilesArgument = None,
    path: PathOption = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            "--logs",
            metavar="FOLDER",
            help="The folder that the option `path` of the layer `log` names; that of --path where "
            "none is given.",
            envvar="HEADRACE_LOG_PATH",
        ),
    ] = None,
) -> None:
    """Tell which files chunks are kept of, where, and how much room they take.

    Files are named that are given, or that a program of this user has open; of all others the inode
    and the device are shown. Of the node's disk also the logs are told that are not in their files
    yet.
    """
    found = [each for each in map(store.read_store, _stores(path)) if each is not None]
    if not found:
        note(f"no chunks are kept: there is no {' and no '.join(map(str, _stores(path)))}")
    names = _open_files() | {_key(file): str(file) for file in files or ()}
    for each in found:
        note(f"{units.size(each.taken)} of at most {units.size(each.bound)} in {each.path}")
        if not each.files:
            continue
        table = Table("file", "chunks", "bytes")
        for key, one in sorted(each.files.items(), key=lambda item: -item[1].bytes):
            if files and names.get(key) not in {str(file) for file in files}:
                continue
            device = f"{os.major(one.device)}:{os.minor(one.device)}"
            name = names.get(key, f"inode {one.inode} on {device}")
            table.add_row(name, str(one.chunks), units.size(one.bytes))
        console().print(table)
    waiting = staged_logs(where) if (where := logs or path) else []
    for staged in waiting:
        note(f"{staged.file} has {units.size(staged.log.stat().st_size)} to come: {staged.log}")


@app.command("prefetch")
@reports_errors
def prefetch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The HDF5 file.")],
    datasets: Annotated[
        list[str] | None, typer.Argument(metavar="[DATASET]...", help="Of these only.")
    ] = None,
    stack: StackOption = None,
    processes: Annotated[
        int, typer.Option("--processes", min=0, help="That decode; 0 is one for each core.")
    ] = 0,
) -> None:
    """Decode all chunks of datasets before a program needs them.

    The stack is that of the program, `cache` where none is given: who uses the memory first decides
    how much there is.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    note(f"{fill(file, datasets, stack or 'cache', processes)} chunks are looked at")


@app.command("evict")
@reports_errors
def evict(files: FilesArgument = None, path: PathOption = None) -> None:
    """Drop the chunks of files, or all of them with the room that they take.

    Programs that run go on; memory that they use is freed when they end.
    """
    if files:
        keys = {_key(file) for file in files}
        note(f"{sum(store.evict(each, keys) for each in _stores(path))} chunks are dropped")
    elif sum(store.evict_all(each) for each in _stores(path)):
        note("all chunks are dropped")
    else:
        note("no chunks are kept")


@app.command("verify")
@reports_errors
def verify(path: PathOption = None) -> None:
    """Compare the chunks on the node's disk with their checksums, and drop what is damaged.

    The layer does so whenever it reads one. Status 1 says that some were damaged.
    """
    chunks, damaged = store.verify(store.on_disk(_needed(path)))
    note(f"{chunks} chunks, {damaged} of them damaged and dropped")
    if damaged:
        raise typer.Exit(1)


@app.command("migrate")
@reports_errors
def migrate(path: LogsOption = None) -> None:
    """Put all logs that wait on this node's disk in order in their files.

    As `headrace replay` does for each of them. Those of a file that other nodes have logs of, too,
    are moved beside the file first: run the command on all nodes; on the last one it finds all.
    Status 1 says that some are left: of a file that has another name by now, say, which
    `headrace replay` is to be told.
    """
    folder = _needed(path)
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder")
    waiting = [each for each in staged_logs(folder) if not remove_moved(each)]
    for file in dict.fromkeys(staged.file for staged in waiting):
        try:
            if others := gather(file):
                note(f"{file} has its log beside it; more of it is on {', '.join(sorted(others))}")
                continue
            replay(file)
            note(f"{file} has all that was in its log")
        except FileError as error:
            note(str(error))
    left = staged_logs(folder)
    for staged in left:
        warn(f"{staged.log} is left: it was made for {staged.file}")
    if left:
        raise typer.Exit(1)


def _needed(path: Path | None) -> Path:
    if path is None:
        fail("which folder? Name it by --path")
    return path


def _stores(path: Path | None) -> Iterator[Path]:
    yield store.in_memory()
    if path is not None:
        yield store.on_disk(path)


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
