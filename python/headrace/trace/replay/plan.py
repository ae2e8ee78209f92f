"""What is made again of a trace: the program's calls, in the order in which they began."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.errors import FileError
from headrace.trace.replay.step import Step
from headrace.trace.replay.within import programs

if TYPE_CHECKING:
    from headrace.trace.model.process import Process
    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

_RAW: Final = 3  # H5FD_MEM_DRAW
_WRITE: Final = 1


@dataclass
class Plan:
    """The steps, and the facts that they need; `ratios`: stored to written bytes, by dataset."""

    seat: Seat
    steps: list[Step]
    ratios: dict[int, float]

    @property
    def process(self) -> Process:
        """Whose calls these are."""
        return self.seat.process

    @property
    def library(self) -> str:
        """The libhdf5 that the program used."""
        return str(self.process.about.get("library", ""))

    @property
    def together(self) -> bool:
        """Whether ranks have opened files together."""
        return any(each["parallel"] for each in self.process.files.values())

    def parallel(self, step: Step) -> bool:
        """Whether a step worked on a file that ranks have opened together."""
        object_ = self.process.objects.get(step.key[0], {})
        return bool(self.process.files.get(object_.get("file", 0), {}).get("parallel"))

    def ranks(self, step: Step) -> int:
        """Of the communicator that a step has opened a file with; 0 where it had none."""
        return self._ranks_of_calls.get(step.number, 0) if self.parallel(step) else 0

    @cached_property
    def _ranks_of_calls(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for each in self.process.storages.values():
            found[each["call"]] = max(int(each["ranks"]), found.get(each["call"], 0))
        return found


def plans(trace: Trace) -> list[Plan]:
    """Of each rank, in their order, or of each process of those that opened no file together.

    FileError for what cannot be made again.
    """
    for process in trace.processes:
        if not process.arguments:
            raise FileError(
                f"{trace.path}: it does not tell what calls were given; record it again with "
                "--stack 'trace(arguments=true)'"
            )
        if process.about.get("forked_from"):
            raise FileError(
                f"{trace.path}: some of its processes were forked from others with what those had "
                "open, which no replay does: name the file of one"
            )
    if len({process.about["pid"] for process in trace.processes}) < len(trace.processes):
        raise FileError(
            f"{trace.path}: several HDF5 libraries of one process have recorded it, and a replay "
            "makes the calls of one: name its file"
        )
    made = [plan_of(seat) for seat in trace.seats]
    if any(each.together for each in made):
        for each in made:
            if each.process.damage:
                raise FileError(
                    f"{each.process.source}: {each.process.damage}: not all that ranks did "
                    "together is known"
                )
        made.sort(key=lambda each: each.process.rank)
        if [each.process.rank for each in made] != list(range(len(made))):
            raise FileError(
                f"{trace.path}: not all of its processes are ranks that opened a file together"
            )
    return made


def plan_of(seat: Seat) -> Plan:
    """Of one process."""
    steps = programs(_steps(seat.process, seat), seat.process.objects)
    return Plan(seat, steps, _ratios(seat.process, seat))


def _steps(process: Process, seat: Seat) -> list[Step]:
    calls = seat.calls
    order = np.argsort(calls["number"], kind="stable")
    columns: Any = zip(
        *(
            calls[name][order].tolist()
            for name in ("number", "parent", "callback", "operation", "object", "name",
                         "bytes", "begin", "duration", "failed", "collective")
        ),
        strict=True,
    )  # fmt: skip
    steps = []
    last = 0
    for number, parent, callback, operation, *key, bytes_, begin, duration, failed, all_ in columns:
        if number == last:  # a transfer of several datasets
            continue
        last = number
        steps.append(
            Step(number, parent, process.callbacks[callback], operation, (key[0], key[1]),
                 process.arguments.get(number, {}), bytes_, begin, duration, bool(failed),
                 bool(all_))
        )  # fmt: skip
    return steps


def _ratios(process: Process, seat: Seat) -> dict[int, float]:
    """Of datasets with filters, as far as what was stored is known by the calls on them."""
    filtered = {i for i, each in process.datasets.items() if each["filters"]}
    written = dict.fromkeys(filtered, 0)
    stored = dict.fromkeys(filtered, 0)
    calls, requests = seat.calls, seat.requests
    for row in seat.transfers[_writes(process, seat)].tolist():
        if (object_ := int(calls["object"][row])) in filtered:
            written[object_] += int(calls["bytes"][row])
    shared = 0  # written when a file was flushed or closed
    rows = (requests["kind"] == _WRITE) & (requests["type"] == _RAW) & (seat.owner >= 0)
    for row in np.flatnonzero(rows).tolist():
        object_ = int(calls["object"][seat.owner[row]])
        if object_ in filtered:
            stored[object_] += int(requests["length"][row])
        elif process.objects.get(object_, {}).get("kind") in {"file", "group"}:
            shared += int(requests["length"][row])
    part = shared / max(sum(written.values()), 1)
    return {i: min(stored[i] / written[i] + part, 1.0) for i in filtered if written[i]}


def _writes(process: Process, seat: Seat) -> Any:
    """Which of the seat's transfers write."""
    number = list(process.callbacks).index("dataset_write")
    return seat.calls["callback"][seat.transfers] == number
