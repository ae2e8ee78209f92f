"""A trace as a log of Darshan's, for `python -m darshan summary`, PyDarshan and Drishti.

POSIX and DXT_POSIX have the requests that reached the storage, H5F and H5D the program's calls.
Processes without MPI are numbered as if they were ranks. What a trace does not know is 0.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from headrace.trace.views.export.darshan.log import Contents, save
from headrace.trace.views.export.darshan.objects import add_datasets, add_files
from headrace.trace.views.export.darshan.storages import add_storages
from headrace.trace.views.output import begin_and_end, replacing

if TYPE_CHECKING:
    from pathlib import Path

    from headrace.trace.model.reader import Trace


def write(trace: Trace, path: Path) -> None:
    """Raises FileError."""
    begin, end = begin_and_end(trace)
    begin = max(begin - 1, 0)  # a time of 0 would mean that nothing happened
    first = trace.processes[0]
    ranks = [each.rank for each in trace.processes]
    if min(ranks) < 0 or len(set(ranks)) < len(ranks):
        ranks = list(range(len(ranks)))
    with replacing(path) as temporary:
        contents = Contents(
            begin, end, first.source.stat().st_uid, max(ranks) + 1, int(first.about.get("pid", 0)),
            shlex.join(first.about.get("command", [])),
        )  # fmt: skip
        for rank, seat in zip(ranks, trace.seats, strict=True):
            process = seat.process
            shift = process.clock_offset - begin
            add_storages(contents, seat, rank, shift)
            add_files(contents, process, rank, shift)
            add_datasets(contents, process, rank, shift)
        save(temporary, contents)
