"""`headrace object`: stores of the layer `object`, and the containers in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from headrace import units
from headrace.cli.output import console, fail, note, reports_errors, warn
from headrace.copying import copy_file
from headrace.stores import Told, ask, is_stub

EXAMPLES = """
**Examples**

    headrace object ls /data/store

    headrace object cp run.h5 plain.h5

    headrace object stat run.h5 /fields/density

    headrace object fsck --data run.h5

    headrace object gc /data/store
"""

app = typer.Typer(
    name="object",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    epilog=EXAMPLES,
    help="Look at stores of the layer `object` and at the files in them, check, clean and remove "
    "them. FILE is the stub that has a container's name.",
)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The stub.")]
EitherArgument = Annotated[
    Path, typer.Argument(metavar="STORE|FILE", help="The folder of a store, or a stub.")
]
StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Where the store is, if not where the stub says.",
        envvar="HEADRACE_OBJECT_STORE",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, an object a line, for other programs.")
]

_SHOWN = 20  # findings of a kind, before the rest is only counted


@app.command("ls")
@reports_errors
def ls(path: EitherArgument, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the files of a store, or all links of a file.

    Of a store: each container, where its stub is, and how much is stored of it, which is what its
    chunks and values of variable length take. A container whose stub is gone was removed by `rm`,
    or was moved and not opened for writing since.
    """
    told = ask("ls", path, options=_in(store))
    if as_json:
        _print_json(told)
    elif told.lines and "path" in told.lines[0]:
        _show_links(told.lines)
    else:
        _show_containers(told.lines)


@app.command("stat")
@reports_errors
def stat(
    file: FileArgument,
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="Of an object in it.", show_default=False)
    ] = "",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a file has, or what is kept of an object in it.

    Garbage is estimated by what nothing leads to at this moment; what a program is about to write
    counts as such.
    """
    told = ask("stat", file, *([path] if path else []), options=_in(store))
    if as_json:
        _print_json(told)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in told.lines[0].items():
        table.add_row(name.replace("_", " "), _worded(name, value))
    console().print(table, markup=False, highlight=False)


@app.command("fsck")
@reports_errors
def fsck(
    path: EitherArgument,
    data: Annotated[
        bool, typer.Option("--data", help="Read all chunks and values and check their sums, too.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a file, or all files of a store.

    What is damaged is told with the object, the key in the store and the cause. Garbage, which
    killed programs leave, is no damage: `headrace object gc` erases it. A file that a program has
    open cannot be checked. Status 1 says that something is damaged, or was not checked.
    """
    told = ask("fsck", path, options=(*_in(store), *(["--data"] if data else [])))
    if as_json:
        _print_json(told)
    else:
        _show_findings(told.lines)
        for line in told.lines:
            if "checked" in line:
                _show_checked(line)
            elif line.get("files"):
                note(f"{line['files']} files of the store, {units.size(line['bytes'])}, are named "
                     "by nothing: run headrace object gc STORE")  # fmt: skip
    if not told.is_clean:
        raise typer.Exit(1)


@app.command("gc")
@reports_errors
def gc(
    path: EitherArgument,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell how much would be erased.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase what nothing leads to: what killed programs, and files removed halfway, have left.

    A file that a program has open is left alone, and so is one that is damaged, or whose stub is
    not where it was. Of values of variable length that were overwritten nothing is erased:
    `headrace object cp` makes a copy without them. Status 1 says that something was left alone.
    """
    told = ask("gc", path, options=(*_in(store), *(["--dry-run"] if dry_run else [])))
    if as_json:
        _print_json(told)
    else:
        _show_findings(told.lines)
        for line in told.lines:
            _show_cleaned(line, "would go" if dry_run else "are erased")
    if not told.is_clean:
        raise typer.Exit(1)


@app.command("cp")
@reports_errors
def cp(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A stub, or a plain HDF5 file.")],
    target: Annotated[Path, typer.Argument(metavar="NEW", help="What is made of it.")],
    store: StoreOption = None,
) -> None:
    """Copy a file of a store to a plain HDF5 file, or a plain one into a store.

    A copy has all that HDF5 shows of the file; chunks are copied as they are stored, and references
    lead to the copies. --store, or HEADRACE_OBJECT_STORE, says where a plain file is copied to.
    What was overwritten in the store, as old strings, is not in the copy.
    """
    to_container = not is_stub(source)
    if store is None and not to_container:
        store = Path(ask("stat", source).lines[0]["store"])
    if store is None:
        fail(f"{source} is a plain file: --store says which store it is copied into")
    copy_file(source, target, store, to_container=to_container)


@app.command("rm")
@reports_errors
def rm(
    path: EitherArgument,
    container: Annotated[
        str, typer.Option("--id", metavar="ID", help="A container of STORE that has no stub.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask, for a container without a stub.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Remove a file with all that the store has of it, or a container whose stub is gone.

    Of a copied stub only that copy is removed. A file that a program has open is not. A container
    is asked for by its id, as `ls` lists it: if its stub was moved, that file is lost.
    """
    if container and not yes:
        question = f"If the stub of {container} was moved, that file is lost. Remove it?"
        if not sys.stdin.isatty() or not typer.confirm(question):
            fail(f"{container} was not removed: --yes says that its stub is gone for good")
    options = (*_in(store), *([f"--id={container}"] if container else []))
    told = ask("rm", path, options=options).lines[0]
    if not told["erased"]:
        note(f"{path} was a copied stub: container {told['container']} stays in its store")


@app.command("link")
@reports_errors
def link(
    store: StoreArgument,
    container: Annotated[str, typer.Argument(metavar="ID", help="Of a container, from `ls`.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The stub to be made.")],
) -> None:
    """Make a stub for a container whose stub was lost."""
    ask("link", store, container, file)


def _in(store: Path | None) -> tuple[str, ...]:
    return () if store is None else (f"--store={store}",)


def _print_json(told: Told) -> None:
    import json  # noqa: PLC0415  # what the command imports first is measured

    for line in told.lines:
        typer.echo(json.dumps(line))


def _print(text: str) -> None:
    console().print(text, markup=False, highlight=False, soft_wrap=True)


def _show_containers(lines: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("container", no_wrap=True)
    for heading in ("chunks", "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold")
    for line in lines:
        if not line["whole"]:
            where = "(left of a removed one: run headrace object gc)"
        elif line["there"]:
            where = line["stub"]
        else:
            where = f"(no stub; it was {line['stub']})" if line["stub"] else "(no stub)"
        size = units.size(line["bytes"])
        table.add_row(line["container"], units.count(line["chunks"]), size, where)
    console().print(table, markup=False, highlight=False)


def _show_links(lines: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("kind", no_wrap=True)
    table.add_column("links", justify="right", no_wrap=True)
    table.add_column("extent", no_wrap=True)
    table.add_column("path", overflow="fold")
    for line in lines:
        if line["link"] == "hard":
            extent = _extent(line) if line["kind"] == "dataset" else ""
            table.add_row(line["kind"], str(line["links"]), extent, line["path"])
        else:
            target = f"{line['file']}:{line['target']}" if "file" in line else line["target"]
            table.add_row(f"{line['link']} link", "", "", f"{line['path']} -> {target}")
    console().print(table, markup=False, highlight=False)


def _extent(line: dict[str, Any]) -> str:
    if line["null"]:
        return "null"
    if not line["dims"]:
        return "scalar"
    dims = zip(line["dims"], line["max_dims"], strict=True)
    return " x ".join(
        str(now) if now == most else f"{now}/{_most(most)}" for now, most in dims
    )  # fmt: skip


def _most(length: int) -> str:
    return "inf" if length == 2**64 - 1 else str(length)


def _worded(name: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_worded_one(name, each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith("bytes"):
        return units.size(value)
    return "" if value is None else str(value)


def _worded_one(name: str, one: Any) -> str:
    if name == "max_dims":
        return _most(one)
    if name == "cuts":
        return f"to {one['dims']} in epoch {one['epoch']}"
    if name == "attributes":
        return f"{one['name']} ({one['bytes']} bytes)"
    return str(one)


def _show_findings(lines: list[dict[str, Any]]) -> None:
    """Of each kind the first ones, and how many more there are."""
    for kind in ("damage", "garbage"):
        found = [line for line in lines if line.get("finding") == kind]
        for line in found[:_SHOWN]:
            where = line["object"] or f"container {line['container']}"
            key = f" [{line['key']}]" if line["key"] else ""
            _print(f"{kind}: {where}{key}: {line['cause']}")
        if len(found) > _SHOWN:
            _print(f"{kind}: {len(found) - _SHOWN} more; --json tells all")


def _show_checked(line: dict[str, Any]) -> None:
    name = line["stub"] or f"container {line['checked']}"
    if line["not_checked"]:
        warn(f"{name} was not checked: {line['not_checked']}")
    elif line["damage"]:
        warn(f"{name} is damaged, in {line['damage']} places")
    elif line["garbage"]:
        _print(f"{name} is whole, with garbage: run headrace object gc")
    else:
        _print(f"{name} is whole")


def _show_cleaned(line: dict[str, Any], what: str) -> None:
    if "files" in line:
        if line["files"]:
            _print(f"{line['files']} files of the store, {units.size(line['bytes'])}, {what}")
        return
    if "cleaned" not in line:
        return
    name = line["stub"] or f"container {line['cleaned']}"
    if line["left_alone"]:
        warn(f"{name} is left alone: {line['left_alone']}")
    elif line.get("rest"):
        _print(f"{name}: what is left of it, {units.size(line['bytes'])} of chunks, {what}")
    else:
        chunks = f"{line['chunks']} chunks, {units.size(line['bytes'])}"
        _print(f"{name}: {line['entries']} entries and {chunks}, {what}")
