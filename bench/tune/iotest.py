"""One configuration for all 24 basic cases of hdf5-iotest on two ranks, found by one search.

python bench/tune/iotest.py [--output FOLDER]

The options that are tried are those of `headrace tune` for a trace of all cases. A candidate is
measured by the kernel itself, which makes and writes all cases; its time is that of all together.
What is found then runs by turns with native HDF5, reading and verifying what it has written,
beside raw writes of as many bytes by as many ranks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.common import session
from bench.common.evidence import LIMIT, RunError, disproof
from bench.common.mpi import OPEN_MPI, PARALLEL, mpi_of
from bench.common.program import Start
from bench.common.ways import Stacks, Way
from bench.tune import page
from bench.tune.recorded import Recording, record

from headrace.bench import stacks
from headrace.bench.child import telling
from headrace.errors import FileError, HeadraceError
from headrace.measuring import machine
from headrace.trace.model.reader import read
from headrace.tune import space
from headrace.tune.budget import Budget
from headrace.tune.runs import Runs
from headrace.tune.search import search
from headrace.tune.space import Candidate, stack_of

RANKS = 2
SIZES = ("--steps", "5", "--arrays", "100")  # 160 MB a case
RECORDED = ("--steps", "2", "--arrays", "4")  # the calls are alike
CASES = 24
TURNS = 7
BUDGET = 900.0  # seconds, of which a search takes a half


@dataclass(frozen=True)
class Case:
    """Medians of seconds from the file's creation to its close, and of the raw writes."""

    name: str
    native: float
    tuned: float
    raw: float


@dataclass(frozen=True)
class Result:
    """`stack`: what was found, after `runs` runs of all cases."""

    stack: str
    runs: int
    cases: Sequence[Case]


class Kernel:
    """iotest's 24 cases on two ranks, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environ = stacks.inherited() | OPEN_MPI
        self._stacks = Stacks(self._environ)
        mpi = mpi_of(PARALLEL)
        self._library, self._launcher = mpi.library, (*mpi.launcher, "-n", str(RANKS))

    def samples(self, candidate: Candidate, *words: str) -> list[dict[str, Any]]:
        """A sample of each case, with `words` for headrace-bench. Raises RunError."""
        name = stack_of(candidate)
        stack = self._stacks.of(Way(name, name))
        report, samples = self._folder / "report", self._folder / "samples"
        for file in (report, samples):
            file.unlink(missing_ok=True)
        variables = stack.environment(self._environ) | {"HEADRACE_REPORT": str(report)}
        given = [*words, "iotest", *SIZES]
        start = Start("*", given, {}, self._library, self._launcher)
        done = subprocess.run(
            start.command(self._folder), env=variables, check=False, capture_output=True,
            text=True, timeout=LIMIT,
        )  # fmt: skip
        if done.returncode:
            raise RunError(" / ".join(telling(done.stderr)) or f"status {done.returncode}")
        if reason := disproof(stack, [], report, self._folder):
            raise RunError(reason)
        lines = samples.read_text(encoding="utf-8").splitlines()
        found: list[dict[str, Any]] = [json.loads(each) for each in lines]
        if len(found) != CASES:
            raise RunError(f"headrace-bench has made {len(found)} cases of {CASES}")
        return found

    def seconds(self, candidate: Candidate) -> float:
        """Of all cases together, written only. Raises FileError."""
        try:
            return float(sum(each["write_wall"] for each in self.samples(candidate, "--no-read")))
        except RunError as error:
            raise FileError(str(error)) from None

    def compared(self, chosen: Candidate) -> list[Case]:
        """By turns with native HDF5. Raises RunError where what is read is something else."""
        times: dict[str, dict[str, list[float]]] = {}
        for _ in range(TURNS):
            for side, candidate in (("native", space.NATIVE), ("tuned", chosen)):
                for each in self.samples(candidate, "--baseline"):
                    if each["verified"] is not True:
                        raise RunError(f"{each['case']}: not verified under {stack_of(candidate)}")
                    case = times.setdefault(
                        str(each["case"]), {"native": [], "tuned": [], "raw": []}
                    )
                    case[side].append(each["write_wall"])
                    case["raw"].append(each["baseline"]["write"])
        return [
            Case(name, *(statistics.median(sides[each]) for each in ("native", "tuned", "raw")))
            for name, sides in times.items()
        ]


def measured(parent: Path) -> Result:
    """Raises HeadraceError, RunError."""
    with tempfile.TemporaryDirectory(prefix="bench-iotest-", dir=parent) as name:
        room = Path(name)
        trace = record(Recording("iotest", "*", RECORDED), room, RANKS)
        kernel = Kernel(room)
        runs = Runs(kernel.seconds, Budget(BUDGET))
        found = search(
            runs,
            space.knobs_for([read(trace)]),
            lambda trial: print(
                stack_of(trial.candidate), trial.why or f"{trial.seconds:.3f} s", flush=True
            ),
        )
        return Result(
            stack_of(found.best.candidate), runs.count, kernel.compared(found.best.candidate)
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="folder of the page and all figures")
    given = parser.parse_args()
    parent = session.ROOT / "build"
    about = session.describe(parent)
    try:
        result = measured(parent)
    except (HeadraceError, RunError) as error:
        sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    text = page.iotest({"machine": about}, result)
    print(text)
    if given.output is not None:
        whole = {"machine": about, **asdict(result)}
        session.write_results(given.output, whole, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
