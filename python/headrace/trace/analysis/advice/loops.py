"""Opening, closing and flushing once for each of many steps."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.trace.analysis.advice.process import (
    BILLION,
    is_netcdf,
    is_python,
    lets_others_read,
    line_with_most,
    spent_around,
)
from headrace.units import count, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data
    from headrace.trace.model.seats import Seat

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
        data.code(
            Code(
                f"dataset = file[{data.path!r}]  # before the loop",
                f'hid_t dataset = H5Dopen(file, "{data.path}", H5P_DEFAULT) before the loop',
                "one netCDF4.Dataset, opened before the loop; in C one nc_open",
            )
        ),
        data.around(*around) * (1 - files / opened),
        "the time of all opens and closes, and of h5py after them, but one for each time that the "
        "file is opened",
        "none, as long as nobody deletes it meanwhile",
        data.line,
    )


def files_again(seat: Seat) -> Iterator[Advice]:
    """A file that is opened and closed for each step."""
    ids: dict[str, list[int]] = defaultdict(list)
    for id_, about in seat.process.files.items():
        if not about["level"] and not about.get("created", False):
            ids[about["name"]].append(id_)
    files = {name: mine for name, mine in ids.items() if len(mine) >= _MANY}
    if not files:
        return
    opening = seat.are(_OPENING)
    opening[_before_close(seat)] = True
    for name, mine in files.items():
        every = _rows_of_files(seat, mine)
        rows = every[opening[every]]
        writes = bool(seat.are(("dataset_write",))[every].any())
        yield Advice(
            "files_again",
            name,
            f"it is opened {count(len(mine))} times",
            "Open it once, before the loop, and its datasets, too",
            Code(
                'file = h5py.File(name, "a")  # before the loop'
                if writes
                else "file = h5py.File(name)  # before the loop",
                "hid_t file = H5Fopen(name, …) before the loop",
                "file = netCDF4.Dataset(name)  # before the loop; in C nc_open",
            ).of(python=is_python(seat), netcdf=is_netcdf(seat)),
            spent_around(seat, rows) * (1 - 1 / len(mine)),
            "the time of all opens and closes but one, with that of its datasets and of h5py "
            "after them",
            "a crash before the close may leave it unreadable: flush it where that matters"
            if writes
            else "what another process writes meanwhile is not seen",
            line_with_most(seat, rows),
        )


_OPENING: Final = (
    "file_open", "file_close", "dataset_open", "object_open", "dataset_get", "dataset_close",
)  # fmt: skip
_BEFORE: Final = (
    "file_specific", "file_get", "dataset_close", "group_close", "datatype_close", "attr_close",
    "dataset_get", "object_get",
)  # fmt: skip


def _before_close(seat: Seat) -> NDArray[np.int64]:
    """Rows of flushes after which the program does nothing but close: these write the same."""
    order = seat.order
    last = len(order)
    others = np.where(seat.are(_BEFORE)[order], last, np.arange(last))
    following = np.append(np.minimum.accumulate(others[::-1])[::-1], last)
    closes = np.append(seat.are(("file_close",))[order], True)
    mine = np.flatnonzero(_flushes(seat)[order])
    found: NDArray[np.int64] = order[mine[closes[following[mine]]]]
    return found


def _flushes(seat: Seat) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = seat.are(("file_specific",)) & (seat.calls["operation"] == _FLUSH)
    return found


def _rows_of_files(seat: Seat, files: list[int]) -> NDArray[np.int64]:
    """The calls on these files."""
    wanted = set(files)
    objects = [i for i, about in seat.process.objects.items() if about["file"] in wanted]
    return np.flatnonzero(np.isin(seat.calls["object"], np.array(objects, np.int64)))


def flushed(seat: Seat) -> Iterator[Advice]:
    """Flushes that write the same places again and again."""
    flush = _flushes(seat)
    flush[_before_close(seat)] = False
    rows = np.flatnonzero(flush)
    number = int(seat.calls["count"][rows].sum())
    if number < _MANY or lets_others_read(seat):
        return
    made = np.isin(seat.owner, rows) & (seat.requests["kind"] == 1)
    where = np.stack([seat.requests["file"][made], seat.requests["offset"][made]])
    once = len(np.unique(where, axis=1)[0])
    again = int(made.sum()) - once
    spent = float(seat.requests["duration"][made].sum()) / BILLION
    yield Advice(
        "flushed",
        "all files",
        f"they are flushed {count(number)} times, which makes {count(made.sum())} requests of "
        f"{size(seat.requests['length'][made].sum())}, {count(again)} of them to places that "
        "were written before",
        "Flush at the end alone, or every so many steps",
        Code(
            "if step % 100 == 0: file.flush()",
            "if (step % 100 == 0) H5Fflush(file, H5F_SCOPE_LOCAL)",
            "if step % 100 == 0: file.sync(), in C nc_sync",
        ).of(python=is_python(seat), netcdf=is_netcdf(seat)),
        float(seat.own[rows].sum()) - spent * once / max(once + again, 1),
        "the time of the flushes, less that of the first write to each place",
        "a crash loses what was written since the last flush",
        line_with_most(seat, rows),
    )
