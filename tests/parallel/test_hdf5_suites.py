"""HDF5's own parallel tests: each rank prints exactly what it prints natively.

Some of these programs say of a check only that it runs, and end themselves when it fails; so what
is compared is the whole output of each rank, and that the program ended well.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness.build import built, preloads
from harness.kept import kept
from harness.prefix import Hdf5
from harness.ranks import env_of, giving_way, launch
from harness.report import Report
from harness.run import TimeLimitError, run
from harness.stack import NATIVE

FIXED_SEED = "tests/parallel/libfixed_seed.so"
STAGED = "async-mpi"
GATHERED = "stripe-node"
STACKS = {
    "vol": "headrace_null seat=vol",
    "both": "headrace_null seat=both",
    "async": "headrace_async seat=both",
    "log": "headrace_log",
    "log-rank": "headrace_log mpi_logs=rank",
    "cache": "headrace_cache settle=0;network=true",
    "stripe": "headrace_stripe files=3;size=4KiB",
    GATHERED: "headrace_stripe files=3;size=4KiB;aggregate=node",
    # Without metadata_block, as one test knows the size of its file nearly.
    "tune": "headrace_tune seat=both;read_once=true;sieve=1MiB;conversion_buffer=4MiB;cb_nodes=1",
    STAGED: "headrace_async seat=both;mpi_staging=true",
}
HAVE_DRIVERS = {"both", "async", "stripe", GATHERED, STAGED, "tune"}

# Durations, and what the API suite says of the connector; paths hold the name of the MPI.
VARYING = re.compile(r"\d+\.\d+ seconds|VOL connector '.*|/\S+|hostname=\S+")
ADDED = "No VOL connector selected"  # a line that the API suite has for native only

# Gives each rank an output of its own, or their lines would mix, and the same random numbers.
WRAPPER = """
exec env LD_PRELOAD="$BEFORE" "$0" "$@" >"out.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
"""


@dataclass(frozen=True)
class Program:
    name: str
    checks: int  # that the program announces natively; fewer would prove less
    ranks: int = 2
    express: str = "3"  # the level that HDF5 is tested with by default; 0 leaves nothing out
    arguments: tuple[str, ...] = ()
    limit: int = 800  # seconds: those of LONG=1 take minutes where other ranks run beside them
    ours: bool = False  # whether this folder builds it
    late: bool = False  # whether what rank 1 writes behind the program comes late
    goes_on: bool = False  # whether it runs to its end though checks fail

    def __str__(self) -> str:
        return f"{self.name}-{self.ranks}-{self.express}"


SHORT = [
    Program("h5_api_test_parallel", 36),
    Program("testphdf5", 58),
    Program("t_shapesame", 8),
    Program("t_pmulti_dset", 60),
    Program("t_filters_parallel", 1800),
    Program("t_select_io_dset", 138, ours=True),
]
LONG = [
    Program("testphdf5", 58, ranks=3),  # has more to do from 3 ranks on
    Program("t_shapesame", 8, express="0"),
    Program("t_filters_parallel", 12000, express="0"),
]
PROGRAMS = [
    *(pytest.param(program, id=str(program)) for program in SHORT),
    *(pytest.param(program, id=str(program), marks=pytest.mark.long) for program in LONG),
]


@dataclass(frozen=True)
class Known:
    """What does not end as natively.

    Ranks read what others wrote before a barrier, without H5Fflush (docs/decisions/0009 and 0011).
    And t_filters_parallel wants HDF5 to refuse a collective write that it would have to convert
    and filter, which a log takes.
    """

    stack: str
    program: str
    arguments: tuple[str, ...]  # empty: the program has no more tests that it could leave out
    says: str
    hangs: bool = False  # the rank that finds old data ends its test, and the others wait for it

    def __str__(self) -> str:
        return "-".join([self.stack, self.program, *self.arguments[-1:]])


KNOWN = [
    Known("log-rank", "testphdf5", ("-o", "chkallocser2par"), r"VRFY \(data verif.*\) failed"),
    Known("log-rank", "testphdf5", ("-o", "fill"), r"errors found in check_value"),
    Known("log-rank", "t_shapesame", (), r"VRFY \(.*data.*\) failed"),
    Known("log-rank", "h5_api_test_parallel", ("dataset",), r"still ran after", hangs=True),
    Known("log-rank", "t_filters_parallel", (), r"VRFY \(Dataset write\) failed"),
    Known(STAGED, "testphdf5", ("-o", "chkallocser2par"), r"VRFY \(data verif.*\) failed"),
    Known(STAGED, "testphdf5", ("-o", "fill"), r"errors found in check_value"),
    Known(STAGED, "t_shapesame", (), r"VRFY \(.*data.*\) failed"),
    Known(STAGED, "h5_api_test_parallel", ("dataset",), r"still ran after", hangs=True),
    # The size of the stub; and transfers that each rank makes alone are told as such.
    *(
        Known(stack, program, arguments, says)
        for stack in ("stripe", GATHERED)
        for program, arguments, says in (
            ("testphdf5", ("-o", "calloc"), r"VRFY \(file size check\) failed"),
            ("testphdf5", ("-o", "bigdset"), r"VRFY \(File is correct size"),
            ("testphdf5", ("-o", "nocolcause"), r"VRFY \(Local cause of Broken"),
            ("t_filters_parallel", (), r"actual selection I/O mode was scalar"),
            ("t_select_io_dset", (), r"check_actual_(selection_)?io_mode"),
        )
    ),
]

# Refused, as tests/layers/stripe/ranks shows: this one asks with three ranks only.
REFUSED = {(stack, "testphdf5"): ("-x", "atomicity") for stack in ("stripe", GATHERED)}

LEFT_OUT = {(one.stack, one.program) for one in KNOWN if one.hangs or not one.arguments}

# Each day `both` stands for `vol`, and but for the API suite for `log`, which has no part in files
# over MPI; `async` for `both` where a suite takes long; and tests/layers/stripe/ranks for
# `stripe-node`.
CASES = [
    pytest.param(
        program,
        stack,
        id=f"{program}-{stack}",
        marks=[pytest.mark.long]
        if program in LONG
        or stack in ("vol", GATHERED)
        or (stack == "tune" and program.name != "testphdf5")
        or (stack == "log" and program.name != "h5_api_test_parallel")
        or (stack in ("both", "async", "log-rank") and program.name == "t_pmulti_dset")
        or (stack == "both" and program.name in ("testphdf5", "t_filters_parallel"))
        or (stack == STAGED and not program.ours)
        else [],
    )
    for program in [*SHORT, *LONG]
    for stack in STACKS
    if (stack, program.name) not in LEFT_OUT
]


@dataclass(frozen=True)
class Outcome:
    printed: list[list[str]]  # by each rank, line by line
    report: Report


def lines_of(path: Path) -> list[str]:
    text = path.read_text(errors="replace")
    return [VARYING.sub("*", line) for line in text.splitlines() if ADDED not in line]


Start = Callable[[Hdf5, Program, str], Outcome]


def path_of(hdf5: Hdf5, program: Program) -> Path:
    if program.ours:
        return built(f"tests/parallel/{program.name}_{hdf5.mpi}")
    return hdf5.program(f"tests/{program.name}")


def natively(start: Start, hdf5: Hdf5, program: Program) -> list[list[str]]:
    """What each rank prints."""
    launcher = shutil.which(hdf5.mpiexec[0])
    assert launcher is not None
    libraries = sorted((hdf5.prefix / "lib").glob("libhdf5*.so"))
    made = [path_of(hdf5, program), Path(launcher), built(FIXED_SEED), *libraries]
    printed: list[list[str]] = kept(
        f"{program.name}-{hdf5.name}",
        [repr(program), Path(__file__), *made],
        lambda: start(hdf5, program, NATIVE).printed,
    )
    return printed


@pytest.fixture(scope="session")
def start(plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Start:
    seed = built(FIXED_SEED)
    late = built("tests/parallel/liblate_rank.so")
    goes_on = built("tests/parallel/libgoes_on.so")

    def start(hdf5: Hdf5, program: Program, connector: str) -> Outcome:
        folder = tmp_path_factory.mktemp(program.name)
        report = folder / "report.jsonl"
        more = [*([late] if program.late else []), *([goes_on] if program.goes_on else [])]
        libraries = [seed, *more, giving_way(hdf5)]
        before = ":".join(map(str, libraries)) if connector == NATIVE else preloads(*libraries)
        environ = {"BEFORE": before, "HDF5TestExpress": program.express}
        env = env_of(connector, plugins, report, **environ)
        launched = [*launch(hdf5, program.ranks), "bash", "-c", WRAPPER]
        command = [*launched, path_of(hdf5, program), *program.arguments]
        outputs = [folder / f"out.{rank}" for rank in range(program.ranks)]
        try:
            done = run(command, env=env, cwd=folder, limit=program.limit)
            good = done.status == 0 or program.goes_on
            ended = f"status {done.status} under {connector}\n{done.text}"
        except TimeLimitError as error:
            good, ended = False, str(error)
        shown = "\n".join(path.read_text(errors="replace")[-4000:] for path in outputs)
        assert good, f"{ended}\n{shown}"
        return Outcome([lines_of(output) for output in outputs], Report(report))

    return start


@pytest.mark.parametrize("program", PROGRAMS)
def test_native_is_the_suite_we_know(hdf5: Hdf5, start: Start, program: Program) -> None:
    printed = natively(start, hdf5, program)
    checks = sum("Testing " in line for line in printed[0])
    assert checks >= program.checks, printed[0]


@pytest.mark.parametrize(("program", "stack"), CASES)
def test_same_output(hdf5: Hdf5, start: Start, program: Program, stack: str) -> None:
    known = [known for known in KNOWN if (known.stack, known.program) == (stack, program.name)]
    left_out = tuple(word for one in known for word in ("-x", one.arguments[-1]))
    refused = REFUSED.get((stack, program.name), ())
    program = replace(program, arguments=left_out + refused)
    native, under = natively(start, hdf5, program), start(hdf5, program, STACKS[stack])
    for rank, (expected, found) in enumerate(zip(native, under.printed, strict=True)):
        assert found == expected, f"rank {rank}"
    took_part(under.report, hdf5, program.ranks, stack)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "known",
    [
        pytest.param(known, id=str(known), marks=[pytest.mark.long] if known.hangs else [])
        for known in KNOWN
    ],
)
def test_what_is_known_to_differ_does(hdf5: Hdf5, start: Start, known: Known) -> None:
    """Or it is to be taken off the list."""
    limit = 40 if known.hangs else 90
    ours = any(program.ours for program in SHORT if program.name == known.program)
    program = Program(known.program, 1, arguments=known.arguments, limit=limit, ours=ours)
    if known.arguments:  # whole programs are started natively anyway
        natively(start, hdf5, replace(program, limit=120))
    program = replace(program, late=known.stack in ("log-rank", STAGED) and not known.hangs)
    with pytest.raises(AssertionError, match=known.says) as ended:
        start(hdf5, program, STACKS[known.stack])
    # It had begun. What the rank has found that ended its test may not be written out yet.
    assert not known.hangs or "PASSED" in str(ended.value)


@pytest.mark.parametrize("stack", ["stripe", pytest.param(GATHERED, marks=pytest.mark.long)])
def test_data_are_right_behind_what_is_known_to_differ(
    hdf5: Hdf5, start: Start, stack: str
) -> None:
    """t_filters_parallel ends at the first of those checks, before it has read most of its data."""
    program = Program("t_filters_parallel", 1800, goes_on=True)
    outcome = start(hdf5, program, STACKS[stack])
    printed = [line for lines in outcome.printed for line in lines]
    failed = {line for line in printed if "failed at line" in line}
    assert failed, "what is known to differ does"
    assert not {line for line in failed if "(verified actual selection" not in line}
    assert sum("Testing " in line for line in printed) >= program.checks, "it ran to its end"
    took_part(outcome.report, hdf5, 2, stack)


def took_part(report: Report, hdf5: Hdf5, ranks: int, stack: str) -> None:
    """Each rank loaded us, into the libhdf5 under test, and all opened files through us."""
    for library in report.libraries():
        assert Path(library).resolve().is_relative_to(hdf5.prefix.resolve()), library
    connector = STACKS[stack].split()[0]
    names = {"vol": connector} | ({"vfd": f"{connector}_mpi"} if stack in HAVE_DRIVERS else {})
    for seat, name in names.items():
        pids = {load["pid"] for load in report.select("load", seat=seat, name=name)}
        assert len(pids) == ranks, f"{seat}: loaded by {pids}"
        ended = report.select("counts", seat=seat, name=name)
        assert {counts["pid"] for counts in ended} == pids
        opened = report.select("file", seat=seat, name=name, ok=True, ranks=ranks)
        assert {event["rank"] for event in opened} == set(range(ranks))
        assert {event["pid"] for event in opened} == pids
