"""`headrace tune`: settings for a program, found by replaying its trace."""

from __future__ import annotations

import enum
import re
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table
from typer.core import TyperGroup

from headrace.cli.output import CommandArgument, console, fail, note, reports_errors, warn
from headrace.cli.recording import Recording, named_after
from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare
from headrace.tune.budget import Budget

EXAMPLES = """
**Examples**

    headrace tune --budget 10min -- python analysis.py

    headrace run --config tuned.toml -- python analysis.py

    headrace tune explain tuned.toml

    headrace tune undo tuned.toml 'tune(sieve=1MiB)'
"""
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h)?")
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}


class Allowed(enum.StrEnum):
    """What a search may change."""

    UNNOTICED = "unnoticed"
    LAYOUT = "layout"


class _SearchesByDefault(TyperGroup):
    """`headrace tune TRACE` is `headrace tune search TRACE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the subcommand in where there is none."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["search", *args]
        return list(super().parse_args(ctx, args))


app = typer.Typer(
    name="tune",
    cls=_SearchesByDefault,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    epilog=EXAMPLES,
    help="Find settings for a program by replaying its calls: `headrace tune -- COMMAND`, or "
    "`headrace tune TRACE...` for what `headrace trace` has recorded with arguments=true.",
)

BudgetOption = Annotated[
    str,
    typer.Option(metavar="TIME", help="How long all may take, from the start to the last line, "
                 "such as 90s, 10min, 1h: a half to search, the rest to compare what was found "
                 "with native HDF5. The program's own run counts, and is not cut short."),
]  # fmt: skip
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="The configuration that is written.")
]
InputsOption = Annotated[
    Path | None, typer.Option(help="Where files are that the program has read.")
]
AllowOption = Annotated[
    Allowed,
    typer.Option(help="`layout`: try what readers may notice, too: how objects are stored."),
]
OnOption = Annotated[
    str,
    typer.Option("--on", metavar="PRESET", help="Say what to set on a modelled file system, such "
                 "as lustre-160 (`headrace-model presets`), instead of trying it here."),
]  # fmt: skip
ModelRanksOption = Annotated[
    int,
    typer.Option("--ranks", metavar="N", min=0, help="With --on: as if so many ranks had made the "
                 "calls, each those of one that was recorded.", show_default=False),
]  # fmt: skip
RanksOption = Annotated[
    int,
    typer.Option("--np", metavar="N", min=0, help="Ranks of replays, at most as many as were "
                 "recorded; all of them if none are named.", show_default=False),
]  # fmt: skip
MpiexecOption = Annotated[
    str, typer.Option(metavar="COMMAND", help="MPI launcher; found by itself otherwise.")
]
Hdf5Option = Annotated[
    Path | None,
    typer.Option("--hdf5", metavar="LIBHDF5", help="If not the program's."),
]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="What a search has written.")]


@app.command("search", context_settings={"allow_interspersed_args": False})
@reports_errors
def search(  # noqa: PLR0913, PLR0917, each is an option
    command: CommandArgument,
    budget: BudgetOption = "10min",
    output: OutputOption = Path("tuned.toml"),
    inputs: InputsOption = None,
    hdf5: Hdf5Option = None,
    allow: AllowOption = Allowed.UNNOTICED,
    np: RanksOption = 0,
    mpiexec: MpiexecOption = "",
    on: OnOption = "",
    ranks: ModelRanksOption = 0,
) -> None:
    """Replay a program's calls under stacks and settings, and write those that are faster.

    A program is run first, and its calls are recorded; for several programs at once, name traces
    of them. What is written was compared with native
    HDF5 in runs by turns, and each setting of it with the same without it; where nothing is
    faster, nothing is written. The files that replays write are read back by plain HDF5.
    """
    limit = Budget(_seconds(budget))
    if on:
        from headrace.cli.tune.on_model import search_on_model  # noqa: PLC0415, needs what a base has not

        (trace,), _ = _traces_of(command, most=1)
        search_on_model(trace, on, ranks, output)
        return
    try:
        import optuna  # noqa: F401, PLC0415, told of before the program runs
    except ImportError:
        raise FileError("to search, optuna is needed: pip install 'headrace[tune]'") from None
    traces, wall = _traces_of(command)
    from headrace.cli.tune.search import Wanted  # noqa: PLC0415, needs what a base has not
    from headrace.cli.tune.search import search as look  # noqa: PLC0415
    from headrace.trace.replay.choices import Choices  # noqa: PLC0415

    choices = Choices(
        library=hdf5, inputs=inputs, compute=True, ranks=np, mpiexec=tuple(shlex.split(mpiexec))
    )
    # Beside the result: replays are to write to the same file system as the program does.
    with tempfile.TemporaryDirectory(prefix=".tune-", dir=output.absolute().parent) as room:
        look(traces, Path(room), choices, Wanted(output, allow == Allowed.LAYOUT, limit, wall))


@app.command("explain")
@reports_errors
def explain(file: FileArgument) -> None:
    """Show what a configuration sets, why, what each setting gains, and what did not help."""
    from headrace.tune import written  # noqa: PLC0415, needs what a base has not

    found = written.read(file)
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "against none of it", "for"):
        table.add_column(heading, overflow="fold")
    for each in found.lines:
        table.add_row(str(each.setting), each.gain, each.reason)
    console().print(f"found for {' '.join(found.about.command)} on {found.about.file_system} with "
                    f"HDF5 {found.about.hdf5}: {found.gain}",
                    soft_wrap=True, markup=False, highlight=False)  # fmt: skip
    console().print(table, markup=False)
    for name, outcome in found.tried.items():
        console().print(f"tried, and left out: {name}: {outcome}", markup=False, highlight=False)


@app.command("undo")
@reports_errors
def undo(
    file: FileArgument,
    setting: Annotated[str, typer.Argument(help="As `explain` shows it; all without it.")] = "",
) -> None:
    """Take a setting out of a configuration, or remove the configuration."""
    from headrace.tune import written  # noqa: PLC0415, needs what a base has not

    found = written.read(file)
    if not setting:
        file.unlink()
        note(f"{file} is removed: programs run as before without --config")
        return
    known = [str(each.setting) for each in found.lines]
    if setting not in known:
        fail(f"{file} does not set {setting}; it sets {', '.join(known)}")
    written.remove(file, next(each.setting for each in found.lines if str(each.setting) == setting))


def _traces_of(command: list[str], most: int | None = None) -> tuple[list[Path], float | None]:
    """Those that are named, or that of the program, which is run, and how long that took."""
    if Path(command[0]).is_dir():
        if others := [each for each in command if not Path(each).is_dir()]:
            fail(f"{command[0]} is a trace, and options go before it: {' '.join(others)}")
        if len(command) > (most or len(command)):
            fail(f"one trace at a time can be played on a model, and these are {len(command)}")
        return [Path(each) for each in command], None
    recording = Recording(named_after(command).absolute(), given := inherited_environment())
    environ = recording.environ(prepare("trace(arguments=true)", None, given).apply(given))
    began = time.monotonic()
    try:
        status = subprocess.run(command, check=False, env=environ).returncode
    except OSError as error:
        recording.end()
        raise FileError(f"{command[0]}: {error.strerror}") from None
    wall = time.monotonic() - began
    recorded = recording.end()
    notes = recording.notes(command, environ, nothing=not recorded)
    if not recorded:
        fail(notes, status or 1)
    if notes:
        warn(notes)
    if status:
        warn(f"{command[0]} has ended with status {status}; its calls until then are replayed")
    return [recording.folder], wall


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        fail(f"--budget {text}: expected a time such as 90s, 10min or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]
