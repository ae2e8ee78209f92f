"""Whether the search of `headrace tune` finds what a grid finds, in a tenth of its runs.

python bench/tune/grid.py [--output FOLDER]

For each kernel every combination of what the search may set is replayed once, and the search is
made. What it chose and the fastest of the grid are then replayed by turns.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.common import session
from bench.tune import page
from bench.tune.recorded import Recording, record

from headrace.errors import HeadraceError
from headrace.measuring import machine
from headrace.trace.model.reader import read
from headrace.trace.replay.choices import Choices
from headrace.tune import space
from headrace.tune.budget import Budget
from headrace.tune.replays import Replays
from headrace.tune.runs import Runs
from headrace.tune.search import search
from headrace.tune.space import Candidate, Knob, Setting, stack_of

FINALISTS = 5  # the fastest of the grid by one run each
TURNS = 7
LIMIT = 1200.0  # seconds, of which a search takes a half

KERNELS = (
    Recording("iotest", "2d-step-contiguous-independent",
              ("--steps", "10", "--arrays", "100", "--rows", "64", "--columns", "64")),
    Recording("e3sm", "g-boxes-independent"),
    Recording("metadata", "default-contiguous", ("--groups", "20")),
    Recording("h5py", "append-rows", ("--rows", "8Ki")),
    Recording("vpic", "strided-independent", ("--slow-particles", "64Ki", "--timesteps", "2")),
)  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """Medians of the seconds of TURNS replays; `runs` of the search, and of the grid."""

    kernel: str
    grid: int
    runs: int
    native: float
    best: float
    chosen: float
    best_stack: str
    chosen_stack: str


def grid(knobs: Sequence[Knob]) -> list[Candidate]:
    """Every combination once; options of a layer that is not there are none."""
    found: dict[Candidate, None] = {}
    for values in itertools.product(*(("", *knob.values) for knob in knobs)):
        chosen = {Setting(knob.layer, knob.option, value)
                  for knob, value in zip(knobs, values, strict=True) if value}  # fmt: skip
        on = {each.layer for each in chosen if not each.option}
        found[frozenset(each for each in chosen if each.layer in on)] = None
    return list(found)


def compared(one: Recording, room: Path) -> Compared:
    """Raises HeadraceError."""
    trace = record(one, room)
    knobs = space.knobs_for([read(trace)])
    replays = Replays([trace], room / "replays", Choices(), Budget(math.inf))

    all_ = grid(knobs)
    once = {each: replays.seconds(each) for each in all_}
    runs = Runs(replays.seconds, Budget(LIMIT))
    chosen = search(runs, knobs, lambda _: None).best.candidate
    finalists = sorted(once, key=lambda each: once[each])[:FINALISTS]
    times: dict[Candidate, list[float]] = {each: [] for each in (space.NATIVE, chosen, *finalists)}
    for _ in range(TURNS):
        for each, seconds in times.items():
            seconds.append(replays.seconds(each))
    medians = {each: statistics.median(seconds) for each, seconds in times.items()}
    best = min(medians, key=lambda each: medians[each])
    return Compared(
        one.name, len(all_), runs.count, medians[space.NATIVE], medians[best], medians[chosen],
        stack_of(best), stack_of(chosen),
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="folder of the page and all figures")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    given = parser.parse_args()
    parent = session.ROOT / "build"
    console = session.console()
    about = session.describe(parent)
    found = []
    try:
        for one in KERNELS:
            if given.only not in one.name:
                continue
            with tempfile.TemporaryDirectory(prefix="bench-grid-", dir=parent) as name:
                found.append(each := compared(one, Path(name)))
            console.print(f"{each.kernel}: {each.runs} runs for {each.grid}, "
                          f"{each.chosen / each.best:.3f} of the best's time, {each.chosen_stack}",
                          soft_wrap=True)  # fmt: skip
    except HeadraceError as error:
        sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    if given.output is not None:
        whole = {"machine": about, "compared": [asdict(each) for each in found]}
        session.write_results(given.output, whole, page.grid({"machine": about}, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
