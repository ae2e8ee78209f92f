"""What to set on a file system that is only modelled: a trace's requests played there.

Each combination of the options below is played by `headrace-model` (docs/guide/model.md), which
takes the same input to the same result, so nothing has to be repeated. The defaults are those of
Lustre: a new file lies on one target, in stripes of 1 MiB.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import FileError
from headrace.measuring.stats import Ratio
from headrace.plugins import library_dir
from headrace.trace.views.export import model as ledgers
from headrace.tune.confirm import Confirmed
from headrace.tune.space import NATIVE, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headrace.trace.model.reader import Trace

# Medians of predicted by measured time of four kernels: bench/results/2026-11-21-model.
ERROR: Final = (
    "the model's times are no measurements: on a real disk they were 0.64 to 1.12 of those "
    "measured, and a parallel file system has not been compared"
)
_MIB: Final = 1 << 20
_COUNTS: Final = (1, 2, 4, 8, 16, 48, 160)
_SIZES: Final = (1, 4, 16, 64)  # MiB


@dataclass(frozen=True)
class Layout:
    """How a new file is dealt out to storage targets; sizes in bytes."""

    targets: int = 1
    stripe: int = _MIB

    @property
    def candidate(self) -> frozenset[Setting]:
        """What has to be set for it."""
        made = set()
        if self.targets != Layout.targets:
            made.add(Setting("tune", "striping_factor", str(self.targets)))
        if self.stripe != Layout.stripe:
            made.add(Setting("tune", "striping_unit", f"{self.stripe // _MIB}MiB"))
        return frozenset(made | {Setting("tune")} if made else NATIVE)


@dataclass(frozen=True)
class Played:
    """`rate`: bytes a second; `available`: what all servers of the file system move."""

    layout: Layout
    together: bool  # whether ranks make their transfers as in the trace, or each by itself
    seconds: float
    rate: float
    available: float


class Model:
    """A trace's requests on a preset, by as many ranks; `folder` must not be there yet."""

    def __init__(self, trace: Trace, folder: Path, preset: str, ranks: int) -> None:
        """Raises FileError."""
        ledgers.write(trace, folder)
        self._ledgers = sorted(folder.glob("*.ledger"))
        self._preset, self._ranks = preset, ranks
        if not self._ledgers:
            raise FileError(f"{trace.path}: it has no requests to storage")
        self.servers = int(self._replay([])["parameters"]["servers"])

    def play(self, layout: Layout, *, together: bool = True) -> Played:
        """Raises FileError."""
        words = ["--stripe-count", str(layout.targets), "--stripe-size", str(layout.stripe)]
        told = self._replay([*words, *([] if together else ["--independent"])])
        (result,) = told["results"]
        seconds = float(result["seconds"])
        available = float(told["parameters"]["bandwidth"]) * self.servers
        return Played(layout, together, seconds, result["bytes"] / max(seconds, 1e-12), available)

    def layouts(self) -> Iterator[Layout]:
        """Every combination, the defaults first."""
        counts = sorted({count for count in _COUNTS if count < self.servers} | {self.servers})
        for targets, size in product(counts, _SIZES):
            yield Layout(targets, size * _MIB)

    def all(self) -> Iterator[Played]:
        """Every layout, with ranks' transfers as they are made and by each rank alone."""
        for layout in self.layouts():
            for together in (True, False):
                yield self.play(layout, together=together)

    def _replay(self, words: list[str]) -> dict[str, Any]:
        program = library_dir().parent / "bin/headrace-model"
        out = self._ledgers[0].with_suffix(".json")
        common = ["--preset", self._preset, "--ranks", str(self._ranks), "--json", str(out)]
        done = subprocess.run(
            [program, "replay", *self._ledgers, *common, *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise FileError(done.stderr.strip() or f"headrace-model ended with {done.returncode}")
        told: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return told


def best_of(model: Model, all_: list[Played]) -> tuple[Confirmed, Played]:
    """The fastest way to deal the file out, with the program's transfers as they are."""
    as_made = [each for each in all_ if each.together]
    default = next(each for each in as_made if each.layout == Layout())
    best = min(as_made, key=lambda each: each.seconds)
    gain = Ratio(default.seconds / best.seconds, 1)
    alone = {
        "striping_factor": replace(best.layout, targets=Layout.targets),
        "striping_unit": replace(best.layout, stripe=Layout.stripe),
    }
    shares = {
        setting: Ratio(model.play(alone[setting.option]).seconds / best.seconds, 1)
        for setting in best.layout.candidate
        if setting.option
    }
    return Confirmed(best.layout.candidate, gain, shares, {}), best
