"""Many datasets or attributes of a few numbers each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, size
from headrace.trace.advice.advice import Advice, Code
from headrace.trace.advice.evidence import is_python, line_with_most, spent_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.advice.evidence import Run
    from headrace.trace.seats import Seat

_TINY: Final = 4096  # bytes that are moved of a dataset
_FEW_CALLS: Final = 30
_MANY: Final = 200
_TOGETHER: Final = 3  # attributes of an object, from which on they are worth being one


def datasets(run: Run) -> Iterator[Advice]:
    """Each costs a header, a link and the calls around it."""
    tiny = [
        each
        for each in run.uses
        if each.kind == "dataset"
        and 0 < each.read + each.written < _TINY
        and each.calls < _FEW_CALLS * max(each.opened, 1)
    ]
    if len(tiny) < _MANY:
        return
    closes = sum(float(s.own[s.are(("file_close",))].sum()) for s in run.trace.seats)
    share = len(tiny) / max(sum(each.kind in ("dataset", "group") for each in run.uses), 1)
    names = {(each.file, each.path) for each in tiny}
    spent = sum(_spent(seat, names) for seat in run.trace.seats) + closes * share
    seat = run.trace.seats[0]
    yield Advice(
        "tiny_datasets",
        "all files",
        f"{count(len(tiny))} datasets hold {size(sum(e.read + e.written for e in tiny))} in all, "
        f"and each has a header and a link",
        "Keep them as rows of one dataset",
        Code(
            f"file.create_dataset(name, ({len(tiny)}, …), dtype)[:] = all_of_them",
            f"one H5Dcreate with {len(tiny)} rows, and one H5Dwrite",
        ).of(python=is_python(seat)),
        spent / max(run.sums.processes, 1) * (1 - 1 / len(tiny)),
        "the time of the calls on them, of h5py between these, and, in proportion, of the close",
        "readers must know the other layout",
        line_with_most(seat, np.flatnonzero(seat.are(("dataset_create", "dataset_write")))),
    )


def _spent(seat: Seat, names: set[tuple[str, str]]) -> float:
    """Seconds around the calls on these objects, by their files and paths."""
    process = seat.process
    files = {id_: each["name"] for id_, each in process.files.items()}
    mine = [i for i, o in process.objects.items() if (files.get(o["file"]), o["path"]) in names]
    rows = np.flatnonzero(np.isin(seat.calls["object"], np.array(mine, np.int64)))
    return spent_around(seat, rows)


def attributes(run: Run) -> Iterator[Advice]:
    """Several of an object, each of which costs a few calls."""
    for seat in run.trace.seats:
        names = {name for name in seat.process.callbacks if name.startswith("attr_")}
        rows = np.flatnonzero(seat.are(names) & (seat.calls["name"] != 0))
        pairs = np.stack([seat.calls["object"][rows], seat.calls["name"][rows]])
        number = len(np.unique(pairs, axis=1)[0])
        objects = len(np.unique(pairs[0]))
        if number < _MANY or number < _TOGETHER * objects:
            continue
        every = np.flatnonzero(seat.are(names))
        yield Advice(
            "tiny_attributes",
            "all files",
            f"{count(objects)} objects have {count(number)} attributes, and the program makes "
            f"{count(len(every))} calls on them",
            "Keep those of an object in one attribute, an array or a compound",
            Code(
                'object.attrs["all"] = numpy.array(values)',
                "one H5Acreate of a compound or array type, and one H5Awrite",
            ).of(python=is_python(seat)),
            spent_around(seat, every) * (1 - objects / number),
            f"the time of these calls, and of h5py between them, for {count(objects)} attributes",
            "readers must know the other layout",
            line_with_most(seat, every),
        )
