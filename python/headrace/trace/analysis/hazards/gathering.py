"""Of all processes and files: what may be a part of a hazard."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from headrace.trace.analysis.hazards.accesses import Gathered, User, add_transfers
from headrace.trace.analysis.hazards.attributes import add_attributes
from headrace.trace.analysis.hazards.changes import add_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.reader import Trace


def gather(trace: Trace) -> Gathered:
    """All that may be a hazard's part."""
    found = Gathered()
    clocks = _clocks(trace)
    by_file: dict[str, list[User]] = defaultdict(list)
    for place, seat in enumerate(trace.seats):
        mine: dict[str, list[int]] = defaultdict(list)
        for id_, each in seat.process.files.items():
            if each["parallel"] and not each["level"]:
                mine[each["name"]].append(id_)
        for name, ids in mine.items():
            by_file[name].append(User(seat, place, ids, clocks[place]))
    found.files = set(by_file)
    places: dict[str, int] = {"": 0}
    for name, users in by_file.items():
        returned = _returned([each.flushes for each in users])
        for user in users:
            add_transfers(found, name, user, returned, places)
        for user in users:
            add_changes(found, name, user, returned, places)
        add_attributes(found, name, users, returned, places)
    found.lines = list(places)
    return found


def _clocks(trace: Trace) -> list[int]:
    """One for all processes of a host: theirs were not read at the same moment as each other's."""
    by_host: dict[str, list[int]] = defaultdict(list)
    for each in trace.processes:
        by_host[str(each.about.get("host", ""))].append(each.clock_offset)
    middle = {host: sorted(offsets)[len(offsets) // 2] for host, offsets in by_host.items()}
    return [middle[str(each.about.get("host", ""))] for each in trace.processes]


def _returned(flushes: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> NDArray[np.int64]:
    """Flushes and closes are collective: the nth of one process is that of all."""
    latest = np.zeros(max((len(ends) for _, ends in flushes), default=0), np.int64)
    for _, ends in flushes:
        latest[: len(ends)] = np.maximum(latest[: len(ends)], ends)
    return np.maximum.accumulate(latest)
