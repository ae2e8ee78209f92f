"""`headrace bench`: kernels and peers under stacks, measured and reported."""

import datetime
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from headrace.bench import privacy, stacks
from headrace.bench.interrupt import Interrupted, by_signals
from headrace.bench.options import Options, kernels, peers_kernel
from headrace.bench.results import Results
from headrace.bench.run import Ending, Request, check_page, publish
from headrace.bench.run import run as run_bench
from headrace.cli.output import console, error_console, fail, reports_errors
from headrace.errors import unknown

EXAMPLES = """
**Examples**

    headrace bench iotest my.ini --stack native,async --report out.html

    headrace bench vpic --np 2 --hdf5 /opt/hdf5/lib/libhdf5.so --particles 8Mi

    headrace bench iotest --np 1,2,4 --stack 'native,trace+async(threads=4)' --repeats 5

    headrace bench all --quick

    headrace bench peers --steps 5

    headrace bench trace analysis.hrtrace --stack native,async   # a program's own calls

    headrace bench report headrace-bench-2026-01-31        # tables anew from results
"""
_PROGRAM = "headrace"
_ALL, _REPORT, _TRACE = "all", "report", "trace"
_INTERRUPTED = 130

KernelArgument = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help=f"One of {', '.join(kernels)}; `{peers_kernel}`: other libraries on the same work; "
        f"`{_ALL}`: everything; `{_REPORT} RESULTS`: the tables of an earlier run; "
        f"`{_TRACE} TRACE`: the calls that the layer `trace` has recorded of a program.",
    ),
]
ArgumentsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ARGUMENTS...]",
        help="For the kernel, as are all options that are not listed here: `headrace-bench "
        "KERNEL --help` explains them.",
        show_default=False,
    ),
]
StacksOption = Annotated[
    str,
    typer.Option(
        "--stack",
        "-s",
        metavar="STACKS",
        help="Stacks to compare, with commas between them and + between the layers of one: "
        "`native,trace+async(threads=4)`. `native` is HDF5 without any.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="TOML file with options of layers."),
]
RanksOption = Annotated[
    str,
    typer.Option(
        "--np",
        metavar="N[,N...]",
        help="Ranks, 1 if none are named; several for scaling curves. Of a replay at most as many "
        "as were recorded, and all of them if none are named.",
    ),
]
Hdf5Option = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The libhdf5 to run on, 1.14 or newer; without it that of h5py, or one of the system.",
        show_default=False,
    ),
]
MpiexecOption = Annotated[
    str, typer.Option(metavar="COMMAND", help="MPI launcher; found by itself otherwise.")
]
RepeatsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Measured repeats; 3, or 1 with --quick.", show_default=False),
]
WarmupOption = Annotated[
    int | None,
    typer.Option(min=0, help="Repeats before that; 1, or 0 with --quick.", show_default=False),
]
OnlyOption = Annotated[str, typer.Option(metavar="GLOB", help="Only cases with such names.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Small sizes.")]
PeersOption = Annotated[bool, typer.Option("--peers", help="The peers after the kernel.")]
SyncOption = Annotated[
    str, typer.Option(metavar="none|close", help="fsync all files after they are closed, timed.")
]
DropOption = Annotated[
    bool, typer.Option("--drop-caches", help="Have the system forget the files before reading.")
]
NoBaselineOption = Annotated[
    bool, typer.Option("--no-baseline", help="Do not time the same bytes through pwrite and pread.")
]
NoLedgerOption = Annotated[
    bool, typer.Option("--no-ledger", help="Do not count requests in a run of their own.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Results; ./headrace-bench-DATE otherwise.", show_default=False
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--dir", metavar="DIR", help="Where the benchmarks write; data/ in the results otherwise.",
        show_default=False,
    ),
]  # fmt: skip
ResumeOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Continue the run there, given the same options."),
]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="A copy of the HTML report.", show_default=False),
]
ProgramOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="This headrace-bench.", show_default=False),
]


@reports_errors
def bench(  # noqa: PLR0913, PLR0917, each is an option
    kernel: KernelArgument,
    arguments: ArgumentsArgument = None,
    stack: StacksOption = stacks.native,
    config: ConfigOption = None,
    np: RanksOption = "",
    hdf5: Hdf5Option = None,
    mpiexec: MpiexecOption = "",
    repeats: RepeatsOption = None,
    warmup: WarmupOption = None,
    only: OnlyOption = "",
    quick: QuickOption = False,
    peers: PeersOption = False,
    sync: SyncOption = "none",
    drop_caches: DropOption = False,
    no_baseline: NoBaselineOption = False,
    no_ledger: NoLedgerOption = False,
    out: OutOption = None,
    data: DataOption = None,
    resume: ResumeOption = None,
    report: ReportOption = None,
    program: ProgramOption = None,
) -> None:
    """Measure what stacks do to benchmark kernels, beside native HDF5, raw I/O and other libraries.

    Each case runs in processes of its own, the stacks in turns. The results folder gets a table
    (CSV), a summary (JSON) and a page with figures (HTML). Ends with status 1 when a case failed.
    """
    words = sys.argv[1:]
    if kernel == _REPORT:
        _rebuild(arguments or [], report)
        return
    if kernel == _TRACE:
        how = {"library": hdf5, "ranks": _ranks_of_replay(np), "mpiexec": _words(mpiexec)}
        _replay(arguments or [], stack, (out or _default_folder()).absolute(), repeats, how)
        return
    if sync not in ("none", "close"):
        fail(f"--sync {sync}: expected none or close")
    if out is not None and resume is not None:
        fail("--resume names the results folder already; leave out --out")
    folder = (resume or out or _default_folder()).absolute()
    options = Options(
        kernels=_kernels(kernel, peers=peers),
        arguments=tuple(arguments or ()),
        stacks=stacks.names(stack),
        ranks=_ranks(np or "1"),
        repeats=repeats or (1 if quick else 3),
        warmup=warmup if warmup is not None else (0 if quick else 1),
        only=only,
        quick=quick,
        sync=sync,
        drop_caches=drop_caches,
        baseline=not no_baseline,
        ledger=not no_ledger,
        config=config,
        hdf5=hdf5,
        mpiexec=_words(mpiexec),
        program=program,
        data=(data or folder / "data").absolute(),
    )
    shown = privacy.command([_PROGRAM, *words])
    request = Request(folder, resume is not None, shown, report)
    with by_signals():
        try:
            ending = run_bench(options, request, console())
        except Interrupted:
            begun = resume is not None or (folder / "run.json").exists()
            _interrupted(_again(folder, resume) if begun else [_PROGRAM, *words])
    _tell(ending, folder, resume)


def _replay(
    arguments: list[str], stack: str, folder: Path, repeats: int | None, how: dict[str, Any]
) -> None:
    from headrace.cli.bench.trace import bench_trace, word_of  # noqa: PLC0415, seldom needed
    from headrace.trace.replay.choices import Choices  # noqa: PLC0415

    trace, given = word_of(arguments)
    inputs = None if given["inputs"] is None else Path(given["inputs"])
    choices = Choices(inputs=inputs, compute=given["compute"], **how)
    if not bench_trace(Path(trace), stack, folder, repeats or 3, choices):
        raise typer.Exit(1)


def _kernels(kernel: str, *, peers: bool) -> tuple[str, ...]:
    if kernel == _ALL:
        return (*kernels, peers_kernel)
    if kernel not in (*kernels, peers_kernel):
        fail(unknown("kernel", kernel, (*kernels, peers_kernel, _ALL, _REPORT)))
    return tuple(dict.fromkeys((kernel, *([peers_kernel] if peers else []))))


def _ranks(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() and 0 < int(word) < 10**6 for word in words):
        fail(f"--np {text}: expected numbers such as 2 or 1,2,4")
    return tuple(sorted({int(word) for word in words}))


def _ranks_of_replay(text: str) -> int:
    """0: as many as were recorded."""
    chosen = _ranks(text) if text else (0,)
    if len(chosen) > 1:
        fail(f"--np {text}: expected one number of ranks for a replay")
    return chosen[0]


def _words(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))


def _default_folder() -> Path:
    now = datetime.datetime.now().astimezone()
    return Path(f"headrace-bench-{now:%Y-%m-%d-%H%M%S}")


def _rebuild(arguments: list[str], page: Path | None) -> None:
    if len(arguments) != 1:
        fail("expected the folder of one run: headrace bench report RESULTS")
    folder = Path(arguments[0])
    check_page(page)
    with by_signals():
        try:
            files, failures = publish(Results.open(folder), console(), page)
        except Interrupted:
            _interrupted([_PROGRAM, *sys.argv[1:]])
    _tell_files(files)
    for text in failures:
        _error(f"failed: {text}")
    if page is not None and page not in files:
        raise typer.Exit(1)


def _tell_files(files: list[Path]) -> None:
    for file in files:
        console().print(f"written: {file}", soft_wrap=True, markup=False, highlight=False)


def _error(text: str, style: str = "red") -> None:
    error_console().print(text, style=style, markup=False)


def _tell(ending: Ending, folder: Path, resume: Path | None) -> None:
    _tell_files(ending.files)
    for text in ending.failures:
        _error(f"failed: {text}")
    for partial in ending.partial:
        _error(f"partial, can be removed: {partial}", "")
    if not ending.complete:
        _interrupted(_again(folder, resume))
    if not ending.tables:
        _interrupted([_PROGRAM, "bench", _REPORT, str(folder)])
    if ending.failures:
        raise typer.Exit(1)


def _interrupted(command: list[str]) -> NoReturn:
    _error(f"interrupted; continue with: {shlex.join(command)}", "")
    raise typer.Exit(_INTERRUPTED)


def _again(folder: Path, resume: Path | None) -> list[str]:
    """The command that goes on with the run."""
    words = [_PROGRAM, *sys.argv[1:]]
    return words if resume is not None else [*_without_out(words), "--resume", str(folder)]


def _without_out(words: list[str]) -> list[str]:
    kept = [word for word in words if not word.startswith("--out=")]
    if "--out" in kept:
        at = kept.index("--out")
        del kept[at : at + 2]
    return kept
