"""`headrace tune`: settings for a program, found by replaying its trace."""

from __future__ import annotations

import datetime
import enum
import math
import re
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from typer.core import TyperGroup

from headrace.bench.units import seconds
from headrace.cli.output import CommandArgument, console, fail, note, reports_errors, warn
from headrace.cli.trace import make_room, named_after
from headrace.errors import FileError
from headrace.plan import inherited_environment, prepare

if TYPE_CHECKING:
    from headrace.bench.stats import Ratio
    from headrace.trace.reader import Trace
    from headrace.tune.search import Trial
    from headrace.tune.space import Candidate, Setting
    from headrace.tune.written import About

EXAMPLES = """
**Examples**

    headrace tune --budget 10min -- python analysis.py

    headrace run --config tuned.toml -- python analysis.py

    headrace tune explain tuned.toml

    headrace tune undo tuned.toml 'tune(sieve=1MiB)'
"""
_OUTPUT: Final = "HEADRACE_TRACE_OUTPUT"
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h)?")
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}


class Allowed(enum.StrEnum):
    """What a search may change."""

    UNNOTICED = "unnoticed"
    LAYOUT = "layout"


@dataclass(frozen=True)
class _Wanted:
    """`limit`: seconds that a search may take."""

    limit: float
    output: Path
    layout: bool


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
    typer.Option(metavar="TIME", help="How long replays may take altogether, such as 90s, 10min, "
                 "1h: a half to search, the rest to compare what was found with native HDF5. "
                 "The program's own run comes before."),
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
    wanted = _Wanted(_seconds(budget), output, allow == Allowed.LAYOUT)
    if on:
        from headrace.cli.tune_on import search_on_model  # noqa: PLC0415, needs what a base has not

        (trace,) = _traces_of(command, most=1)
        search_on_model(trace, on, ranks, output)
        return
    try:
        import optuna  # noqa: F401, PLC0415, told of before the program runs
    except ImportError:
        raise FileError("to search, optuna is needed: pip install 'headrace[tune]'") from None
    traces = _traces_of(command)
    from headrace.trace.replay.choices import Choices  # noqa: PLC0415, needs what a base has not

    choices = Choices(
        library=hdf5, inputs=inputs, compute=True, ranks=np, mpiexec=tuple(shlex.split(mpiexec))
    )
    # Beside the result: replays are to write to the same file system as the program does.
    with tempfile.TemporaryDirectory(prefix=".tune-", dir=output.absolute().parent) as room:
        _search(traces, Path(room), choices, wanted)


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
                    f"HDF5 {found.about.hdf5}: {found.gain} as {found.about.baseline}",
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


def _search(traces: list[Path], room: Path, choices: Any, wanted: _Wanted) -> None:
    from headrace.bench import machine  # noqa: PLC0415
    from headrace.trace.reader import read  # noqa: PLC0415
    from headrace.trace.signature import mean, signature  # noqa: PLC0415, needs what a base has not
    from headrace.tune import confirm, space, written  # noqa: PLC0415
    from headrace.tune.replays import Replays  # noqa: PLC0415
    from headrace.tune.runs import Runs  # noqa: PLC0415
    from headrace.tune.search import search as look  # noqa: PLC0415

    opened = [read(each) for each in traces]
    knobs = space.knobs_for(opened, layout=wanted.layout)
    storage = machine.storage(wanted.output.absolute().parent)
    about = written.About(
        _command_of(opened[0]), str(storage.get("file_system", "")),
        _version_of(opened[0]), datetime.datetime.now(datetime.UTC).date().isoformat(),
        mean([signature(each) for each in opened]),
    )  # fmt: skip
    began = time.monotonic()
    runs = Runs(Replays(traces, room / "replays", choices).seconds, wanted.limit, began)
    searched = look(runs, knobs, _tell_trial, _known_for(about))
    native, trials = searched.trials[0], searched.trials
    if not math.isfinite(native.seconds):
        raise FileError(f"{traces[0]}: it cannot be replayed: {native.why}")
    if len(trials) == 1:
        note(f"half of {wanted.limit:.0f} s was over after native HDF5 alone: a longer --budget "
             "leaves time to search")  # fmt: skip
        return
    best = searched.best.candidate
    console().print(f"the best of {len(trials)} is {space.stack_of(best)}; comparing it with "
                    "native HDF5, and each setting with none", markup=False)  # fmt: skip
    found = confirm.confirm(runs, best, _tell_share)
    _keep(about, found.candidate)
    if not found.candidate:
        note("nothing that was tried is surely faster than native HDF5: nothing is written")
        return
    tried = {str(each): written.gain_of(share) for each, share in found.dropped.items()}
    tried |= {space.stack_of(each.candidate): each.why for each in trials if each.why}
    written.write(wanted.output, found, about, tried)
    console().print(f"written: {wanted.output}: {written.gain_of(found.gain)} as native HDF5",
                    soft_wrap=True, markup=False, highlight=False)  # fmt: skip


def _known_for(about: About) -> Candidate:
    """What a search before found for a program like it; trying it first is all that it is for."""
    from headrace.tune import known, space  # noqa: PLC0415

    try:
        found = known.nearest(dict(about.signature), about.file_system)
    except FileError as error:
        warn(f"searches before are not looked at: {error}")
        return space.NATIVE
    if found:
        note(f"a program like it was fastest under {space.stack_of(found)}, which is tried first")
    return found


def _keep(about: About, candidate: Candidate) -> None:
    from headrace.tune import known  # noqa: PLC0415
    from headrace.tune.differing import program_of  # noqa: PLC0415

    program = program_of(about.command) if about.command else ""
    try:
        known.keep(dict(about.signature), candidate, program, about.file_system)
    except FileError as error:
        warn(f"what was found is not kept for other searches: {error}")


def _tell_trial(trial: Trial) -> None:
    from headrace.tune.space import stack_of  # noqa: PLC0415

    outcome = trial.why or f"{seconds(trial.seconds)} in HDF5"
    console().print(f"{stack_of(trial.candidate)}: {outcome}", soft_wrap=True, markup=False,
                    highlight=False)  # fmt: skip


def _tell_share(setting: Setting, share: Ratio) -> None:
    from headrace.tune.written import share_of  # noqa: PLC0415

    kept = "" if share.verdict == "faster" or not share.pairs else "; left out"
    console().print(f"{setting}: {share_of(share)}{kept}", soft_wrap=True,
                    markup=False, highlight=False)  # fmt: skip


def _traces_of(command: list[str], most: int | None = None) -> list[Path]:
    """Those that are named, or that of the program, which is run."""
    if Path(command[0]).is_dir():
        if others := [each for each in command if not Path(each).is_dir()]:
            fail(f"{command[0]} is a trace, and options go before it: {' '.join(others)}")
        if len(command) > (most or len(command)):
            fail(f"one trace at a time can be played on a model, and these are {len(command)}")
        return [Path(each) for each in command]
    folder = named_after(command).absolute()
    make_room(folder)
    given = inherited_environment()
    recording = prepare("trace(arguments=true)", None, given).apply(given)
    try:
        status = subprocess.run(
            command, check=False, env=recording | {_OUTPUT: str(folder)}
        ).returncode
    except OSError as error:
        raise FileError(f"{command[0]}: {error.strerror}") from None
    if not folder.is_dir():
        fail(f"{command[0]} has opened no HDF5 file under the layer trace", status or 1)
    if status:
        warn(f"{command[0]} has ended with status {status}; its calls until then are replayed")
    return [folder]


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        fail(f"--budget {text}: expected a time such as 90s, 10min or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _command_of(trace: Trace) -> list[str]:
    return [str(each) for each in trace.processes[0].about.get("command") or []]


def _version_of(trace: Trace) -> str:
    return str(trace.processes[0].about.get("hdf5", ""))
