"""`headrace fuse`, `split`, `restripe` and `stripe`: files that lie in pieces."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from headrace import units
from headrace.cli.output import console, error_console, fail, note, reports_errors
from headrace.stripe import check
from headrace.stripe import fuse as making
from headrace.stripe.configuration import Layout
from headrace.stripe.nodes import fuse_here
from headrace.stripe.orphans import orphans as find_orphans
from headrace.stripe.orphans import remove_orphans
from headrace.stripe.sets import describe, find, require_one_file, without_links
from headrace.stripe.stub import read_stub
from headrace.values import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLES = """
**Examples**

    headrace fuse out.h5 --output whole.h5

    headrace split whole.h5 --files 8 --dirs /nvme0,/nvme1

    headrace stripe ls out.h5
"""

app = typer.Typer(
    name="stripe",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at files that lie in pieces, as HDF5's subfiling writes them, and move them.",
)

StubArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file's name, which its stub has.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config-dir", metavar="DIR", help="Where the set's configuration lies, if not "
                 "beside FILE (H5FD_SUBFILING_CONFIG_FILE_PREFIX)."),
]  # fmt: skip
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="NEW", help="Leave FILE as it is, and make this one."),
]
VerifyOption = Annotated[
    bool, typer.Option("--verify", help="Read everything back and compare it.")
]
FilesOption = Annotated[int, typer.Option("--files", metavar="N", min=1, help="How many pieces.")]
SizeOption = Annotated[str, typer.Option("--size", metavar="SIZE", help="The size of a stripe.")]
DirsOption = Annotated[
    str,
    typer.Option("--dirs", metavar="DIR,DIR", help="Folders that the pieces lie in, in turn; "
                 "beside the stub are links to them."),
]  # fmt: skip


@reports_errors
def fuse(
    file: StubArgument,
    output: OutputOption = None,
    verify: VerifyOption = False,
    config_dir: ConfigOption = None,
) -> None:
    """Make one HDF5 file of the pieces that HDF5's subfiling, or `headrace split`, has written.

    Without --output it takes the place of FILE, and the pieces are removed then. Where subfiles lie
    on several nodes, run it with --output on each of them: the last one completes the file.
    """
    _require_free(output)
    told = describe(file, config_dir)
    if told.other_nodes and output is not None:
        size = told.state.size if told.state is not None else 0
        with _progress("fusing", size) as done:
            missing = fuse_here(file, told, output, done, verify=verify)
        left = f"made when {missing} subfiles of other nodes are there" if missing else "complete"
        note(f"{output}: {left}")
        return
    found = find(file, config_dir)
    with _progress("fusing", found.size) as done:
        making.make_whole(found, output, done, verify=verify)
    note(f"{output or file}: {units.size(found.size)} of {found.layout.count} subfiles")


@reports_errors
def split(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An HDF5 file.")],
    files: FilesOption,
    size: SizeOption = "32MiB",
    dirs: DirsOption = "",
    output: OutputOption = None,
) -> None:
    """Cut an HDF5 file into pieces, which HDF5's subfiling reads.

    Without --output a stub, which says what it is, takes the place of FILE.
    """
    layout = _layout(size, files)
    folders = [Path(each) for each in dirs.split(",") if each]
    file = without_links(file)
    require_one_file(file)
    _require_free(output)
    with _progress("splitting", file.stat().st_size) as done:
        made = making.split(file, output or file, layout, folders, done)
    note(f"{made.stub}: {layout.count} subfiles with stripes of {units.size(layout.stripe)}")


@reports_errors
def restripe(
    file: StubArgument,
    size: SizeOption = "32MiB",
    files: Annotated[
        int, typer.Option("--files", metavar="N", min=0, help="0: as many as now.")
    ] = 0,
    dirs: DirsOption = "",
) -> None:
    """Deal a file's pieces out anew; the old ones go once the new ones are complete."""
    found = find(file)
    layout = _layout(size, files or found.layout.count)
    folders = [Path(each) for each in dirs.split(",") if each]
    with _progress("restriping", 2 * found.size) as done:
        making.restripe(found, layout, folders, done)
    note(f"{file}: {layout.count} subfiles with stripes of {units.size(layout.stripe)}")


@app.command("ls")
@reports_errors
def ls(file: StubArgument, config_dir: ConfigOption = None) -> None:
    """Show how a file is dealt out, and its pieces."""
    found = find(file, config_dir)
    console().print(f"{file}: {units.count(found.size)} bytes, stripes of "
                    f"{units.size(found.layout.stripe)} in "
                    f"{found.layout.count} subfiles", markup=False, highlight=False)  # fmt: skip
    for path, size in zip(found.subfiles, found.sizes, strict=True):
        where = f" -> {path.resolve()}" if path.is_symlink() else ""
        console().print(f"{size:>15}  {path}{where}", markup=False, highlight=False, soft_wrap=True)


@app.command("verify")
@reports_errors
def verify(file: StubArgument, config_dir: ConfigOption = None) -> None:
    """Tell whether all pieces are there, make up a whole HDF5 file, and are as they were closed."""
    found = find(file, config_dir)
    check.require_whole(found)
    if found.state is not None and not found.state.closed:
        fail(f"{file}: it was not closed by who wrote it last, or is open still: it has what was "
             f"flushed, {found.size} bytes")  # fmt: skip
    sums = check.require_checksums(found)
    told = "checksums fit" if sums else "there are no checksums of it"
    said = f"{file}: complete, {units.size(found.size)}; {told}"
    console().print(said, markup=False, highlight=False)


@app.command("move")
@reports_errors
def move(
    file: StubArgument,
    target: Annotated[Path, typer.Argument(metavar="NEW", help="The new name, or a folder.")],
    config_dir: ConfigOption = None,
) -> None:
    """Move a file with its pieces, so that HDF5's subfiling finds them there, too."""
    found = find(file, config_dir)
    stub = target / found.stub.name if target.is_dir() else target
    if stub.exists():
        fail(f"{stub} is there already")
    with _progress("moving", found.size) as done:
        making.move_set(found, stub, done)


@app.command("remove")
@reports_errors
def remove(file: StubArgument, config_dir: ConfigOption = None) -> None:
    """Remove a file with its pieces, wherever they lie."""
    making.remove_set(find(file, config_dir))


@app.command("orphans")
@reports_errors
def orphans(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove them.")] = False,
) -> None:
    """List the pieces of files that were removed or replaced by `rm`, `mv` or a program.

    A stub that was moved to another folder finds its pieces again when it is moved back, so look
    before you remove them. Folders of configurations (--config-dir) are not for this command.
    """
    found = find_orphans(folder)
    for each in found:
        console().print(f"{each.size:>15}  {each.config}", markup=False, highlight=False,
                        soft_wrap=True)  # fmt: skip
    if remove:
        remove_orphans(found)


def _require_free(output: Path | None) -> None:
    """Whoever replaces a stub loses what is in its pieces."""
    if output is not None and output.exists() and read_stub(output).kind == "text":
        fail(f"{output} is a file in pieces, which would be lost: give another name")


def _layout(size: str, files: int) -> Layout:
    try:
        stripe = parse("size", size)
    except ValueError as error:
        fail(f"--size: {error}")
    if not isinstance(stripe, int) or stripe < 1:
        fail(f"--size {size}: a stripe has at least one byte")
    return Layout(stripe, files)


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=error_console(), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
