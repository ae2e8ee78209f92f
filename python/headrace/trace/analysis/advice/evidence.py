"""What rules look at: the run, and each dataset that a process waited for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.data import Data
from headrace.trace.analysis.advice.process import BILLION, meet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from headrace.trace.analysis.summary import Totals, Use
    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

LEAST: Final = 0.01  # seconds, and share of the run: less is noise


@dataclass
class Run:
    """All of it; `uses` are those of its objects."""

    trace: Trace
    uses: Sequence[Use]
    sums: Totals

    @property
    def noise(self) -> float:
        """Seconds that are not worth a word."""
        return max(LEAST, LEAST * self.sums.span)

    @cached_property
    def datasets(self) -> list[Data]:
        """Those that a process waited for longer than that."""
        return [data for seat in self.trace.seats for data in _datasets(self, seat)]

    @cached_property
    def over_mpi(self) -> bool:
        """Whether processes are known to be ranks of one program."""
        storages = (s for each in self.trace.processes for s in each.storages.values())
        return any(int(each.get("ranks", -1)) > 1 for each in storages)

    def beside(self, seat: Seat) -> int:
        """How many processes run on that one's host while it does; itself is one."""
        return sum(
            each.process.about.get("host") == seat.process.about.get("host") and meet(each, seat)
            for each in self.trace.seats
        )


def _datasets(run: Run, seat: Seat) -> Iterator[Data]:
    """By file and path: what is opened again may have another id."""
    process, raw = seat.process, seat.calls
    made = seat.owner >= 0
    below = seat.requests["duration"][made] / BILLION
    spent_below = np.bincount(seat.owner[made], below, len(seat.own)).astype(np.float64)
    good = np.flatnonzero(raw["failed"] == 0)
    ids, places = np.unique(raw["object"][good], return_inverse=True)
    spent = np.bincount(places, seat.own[good], len(ids))
    order = np.argsort(places, kind="stable")
    parts = np.split(good[order], np.searchsorted(places[order], np.arange(1, len(ids))))
    groups = _same(seat, ids, np.unique(raw["object"][good][seat.are(("dataset_create",))[good]]))
    by_path: dict[str, float] = defaultdict(float)  # many files may have little of it each
    for (_, path, _), mine in groups.items():
        by_path[path] += spent[mine].sum()
    for (file, path, _), mine in groups.items():
        known = [process.datasets[i] for i in ids[mine].tolist() if i in process.datasets]
        if known and by_path[path] >= run.noise:
            rows = np.sort(np.concatenate([parts[place] for place in mine]))
            yield Data(run, seat, file, path, known[0], rows, spent_below)


def _same(
    seat: Seat, ids: NDArray[np.int64], made: NDArray[np.int64]
) -> dict[tuple[str, str, int], list[int]]:
    """Places of ids by file, path and how often such a dataset was made before."""
    process = seat.process
    fresh = set(made.tolist())
    found: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    times: dict[tuple[str, str], int] = defaultdict(int)
    for place, id_ in enumerate(ids.tolist()):
        about = process.objects.get(id_)
        if about is not None and about["kind"] == "dataset":
            file = process.files.get(about["file"], {}).get("name", "")
            times[file, about["path"]] += id_ in fresh
            found[file, about["path"], times[file, about["path"]]].append(place)
    return found
