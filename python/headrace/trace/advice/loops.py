"""Opening, closing and flushing once for each of many steps."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, size
from headrace.trace.advice.advice import Advice, Code
from headrace.trace.advice.evidence import BILLION, is_python, line_with_most, spent_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.advice.evidence import Data, Run
    from headrace.trace.seats import Seat

_MANY: Final = 20
_FLUSH: Final = 0  # operation of file_specific


def opened_again(data: Data) -> Advice | None:
    """A dataset that is opened for each of its transfers, while its file stays open."""
    opens = ("dataset_open", "object_open")
    opened = data.count_of(*opens)
    files = sum(each["name"] == data.file for each in data.seat.process.files.values())
    if opened < _MANY or opened <= 2 * files:
        return None
    around = ("dataset_close", "dataset_get", *opens)
    return Advice(
        "opened_again",
        data.path,
        f"it is opened {count(opened)} times for {count(len(data.transfers))} transfers",
        "Open it once, before the loop",
        Code(
            f"dataset = file[{data.path!r}]  # before the loop",
            f'hid_t dataset = H5Dopen(file, "{data.path}", H5P_DEFAULT) before the loop',
        ).of(python=data.python),
        data.around(*around) * (1 - files / opened),
        "the time of all opens and closes, and of h5py after them, but one for each time that the "
        "file is opened",
        "none, as long as nobody deletes it meanwhile",
        data.line,
    )


def files_again(run: Run) -> Iterator[Advice]:
    """A file that is opened and closed for each step."""
    for seat in run.trace.seats:
        ids: dict[str, list[int]] = defaultdict(list)
        for id_, about in seat.process.files.items():
            if not about["level"]:
                ids[about["name"]].append(id_)
        around = seat.are(("file_open", "file_close", "file_create"))
        for name, mine in ids.items():
            if len(mine) < _MANY:
                continue
            rows = _rows_of_files(seat, mine, around)
            yield Advice(
                "files_again",
                name,
                f"it is opened {count(len(mine))} times",
                "Open it once, before the loop",
                Code(
                    "file = h5py.File(name)  # before the loop",
                    "hid_t file = H5Fopen(name, …) before the loop",
                ).of(python=is_python(seat)),
                spent_around(seat, rows) * (1 - 1 / len(mine)),
                "the time of all opens and closes but one",
                "a crash before the close may leave it unreadable: flush it where that matters",
                line_with_most(seat, rows),
            )


def _rows_of_files(seat: Seat, files: list[int], chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The chosen calls on these files."""
    wanted = set(files)
    objects = [i for i, about in seat.process.objects.items() if about["file"] in wanted]
    return np.flatnonzero(chosen & np.isin(seat.calls["object"], np.array(objects, np.int64)))


def flushed(run: Run) -> Iterator[Advice]:
    """Flushes that write the same places again and again."""
    for seat in run.trace.seats:
        flush = seat.are(("file_specific",)) & (seat.calls["operation"] == _FLUSH)
        rows = np.flatnonzero(flush)
        number = int(seat.calls["count"][rows].sum())
        if number < _MANY:
            continue
        made = np.isin(seat.owner, rows) & (seat.requests["kind"] == 1)
        where = np.stack([seat.requests["file"][made], seat.requests["offset"][made]])
        once = len(np.unique(where, axis=1)[0])
        again = int(made.sum()) - once
        spent = float(seat.requests["duration"][made].sum()) / BILLION
        needed = spent * once / max(once + again, 1)
        yield Advice(
            "flushed",
            "all files",
            f"it is flushed {count(number)} times, which makes {count(made.sum())} requests of "
            f"{size(seat.requests['length'][made].sum())}, {count(again)} of them to places that "
            "were written before",
            "Flush at the end alone, or every so many steps",
            Code(
                "if step % 100 == 0: file.flush()",
                "if (step % 100 == 0) H5Fflush(file, H5F_SCOPE_LOCAL)",
            ).of(python=is_python(seat)),
            float(seat.own[rows].sum()) - needed,
            "the time of the flushes, less that of the first write to each place",
            "a crash loses what was written since the last flush",
            line_with_most(seat, rows),
        )
