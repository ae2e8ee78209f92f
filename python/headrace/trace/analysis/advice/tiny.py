"""Many datasets or attributes of a few numbers each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.analysis.advice.process import (
    is_netcdf,
    is_python,
    line_with_most,
    spent_around,
)
from headrace.units import count, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.analysis.advice.evidence import Run
    from headrace.trace.model.seats import Seat

_TINY: Final = 4096  # bytes that are moved of a dataset
_MOVES: Final = 2  # transfers of a dataset, each time that it is opened or made
_MANY: Final = 200
_IN_A_FILE: Final = 20
_TOGETHER: Final = 3  # attributes of an object, from which on they are worth being one
# What formats above HDF5 prescribe, which a program cannot name otherwise.
_CONVENTIONS: Final = frozenset({
    "CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid",
    "_Netcdf4Coordinates", "_NCProperties", "_nc3_strict", "_FillValue", "units", "long_name",
    "standard_name", "TITLE", "VERSION", "FLAVOR", "PYTABLES_FORMAT_VERSION", "encoding-type",
    "encoding-version",
})  # fmt: skip


def datasets(run: Run) -> Iterator[Advice]:
    """Each costs a header, a link and the calls around it."""
    names = _tiny(run)
    if len(names) < _MANY:
        return
    files = Counter(file for file, _ in names)
    names = {each for each in names if files[each[0]] >= _IN_A_FILE}
    if len(names) < _MANY:
        return
    uses = [each for each in run.uses if each.kind in ("dataset", "group")]
    held = sum(each.read + each.written for each in uses if (each.file, each.path) in names)
    groups = _groups_of(run, names)
    closes = sum(float(s.own[s.are(("file_close",))].sum()) for s in run.trace.seats)
    share = len(names | groups) / max(len(uses), 1)
    spent = sum(_spent(seat, names | groups) for seat in run.trace.seats) + closes * share
    seat = run.trace.seats[0]
    within = f", and {count(len(groups))} groups hold nothing else" if groups else ""
    yield Advice(
        "tiny_datasets",
        "all files",
        f"{count(len(names))} datasets hold {size(held)} in all, and each has a header and a "
        f"link{within}",
        "Keep them as rows of one dataset, and what attributes tell of each as columns; where they "
        "differ in length, one after the other, with another dataset of where each begins",
        Code(
            f"file.create_dataset(name, ({len(names)}, …), dtype)[:] = all_of_them",
            f"one H5Dcreate with {len(names)} rows, and one H5Dwrite",
        ).of(python=is_python(seat)),
        spent / max(run.sums.processes, 1) * (1 - 1 / len(names)),
        "the time of the calls on them, of h5py between these, and, in proportion, of the close",
        f"readers must know the other layout; {OTHER_FILE}",
        line_with_most(seat, np.flatnonzero(seat.are(("dataset_create", "dataset_write")))),
    )


def _tiny(run: Run) -> set[tuple[str, str]]:
    """Files and paths of datasets that are little, and moved as a whole, each time they are open.

    However many calls there are on each, as for its attributes.
    """
    moves: Counter[tuple[str, str]] = Counter()
    for seat in run.trace.seats:
        files = {id_: each["name"] for id_, each in seat.process.files.items()}
        ids, places = np.unique(seat.calls["object"][seat.transfers], return_inverse=True)
        numbers = np.bincount(places, seat.calls["count"][seat.transfers], len(ids))
        for id_, number in zip(ids.tolist(), numbers.tolist(), strict=True):
            if (about := seat.process.objects.get(id_)) is not None:
                moves[files.get(about["file"], ""), about["path"]] += int(number)
    found = set()
    for each in run.uses:
        times = max(each.opened, 1)
        few = 0 < moves[each.file, each.path] <= _MOVES * times
        if each.kind == "dataset" and few and 0 < each.read + each.written < _TINY * times:
            found.add((each.file, each.path))
    return found


def _groups_of(run: Run, names: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those that hold such datasets alone, as far as is known, and would go with them."""
    parents = {(file, path.rpartition("/")[0]) for file, path in names}
    others = {
        (each.file, each.path.rpartition("/")[0])
        for each in run.uses
        if each.kind in ("dataset", "group") and (each.file, each.path) not in names
    }
    found = {each for each in parents - others if each[1]}
    return found if 2 * len(found) > len(names) else set()


def _spent(seat: Seat, names: set[tuple[str, str]]) -> float:
    """Seconds around the calls on these objects, by their files and paths."""
    process = seat.process
    files = {id_: each["name"] for id_, each in process.files.items()}
    mine = [i for i, o in process.objects.items() if (files.get(o["file"]), o["path"]) in names]
    rows = np.flatnonzero(np.isin(seat.calls["object"], np.array(mine, np.int64)))
    return spent_around(seat, rows)


def attributes(seat: Seat) -> Iterator[Advice]:
    """Several of an object, each of which costs a few calls."""
    names = {name for name in seat.process.callbacks if name.startswith("attr_")}
    known = [id_ for id_, each in seat.process.names.items() if each["is"] not in _CONVENTIONS]
    mine = seat.are(names) & np.isin(seat.calls["name"], np.array(known, np.int64))
    rows = np.flatnonzero(mine & (seat.calls["name"] != 0))
    pairs = np.stack([seat.calls["object"][rows], seat.calls["name"][rows]])
    number = len(np.unique(pairs, axis=1)[0])
    objects = len(np.unique(pairs[0]))
    if number < _MANY or number < _TOGETHER * objects or is_netcdf(seat):
        return
    yield Advice(
        "tiny_attributes",
        "all files",
        f"{count(objects)} objects have {count(number)} attributes, and the program makes "
        f"{count(len(rows))} calls on them",
        "Keep those of an object in one attribute, an array or a compound",
        Code(
            'object.attrs["all"] = numpy.array(values)',
            "one H5Acreate of a compound or array type, and one H5Awrite",
        ).of(python=is_python(seat)),
        spent_around(seat, rows) * (1 - objects / number),
        f"the time of these calls, and of h5py between them, for {count(objects)} attributes",
        f"readers must know the other layout; {OTHER_FILE}",
        line_with_most(seat, rows),
    )
