"""Datasets that ranks delete or shrink: as if they wrote what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.analysis.hazards.accesses import CUTTING, DELETING, columns_of
from headrace.trace.analysis.hazards.overlap import Slabs
from headrace.trace.model.seats import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.analysis.hazards.accesses import Gathered, User

_DELETE: Final = 0  # H5VL_LINK_DELETE
_SET_EXTENT: Final = 0  # H5VL_DATASET_SET_EXTENT
_FAR: Final = 1 << 60  # past the last element of any dataset


Box = tuple[list[int], list[int]]  # start and block


@dataclass(frozen=True)
class _Change:
    """A call, and what it takes from a dataset."""

    row: int
    path: str
    act: int
    boxes: list[Box]
    certain: bool = True


def add_changes(
    found: Gathered,
    file: str,
    user: User,
    returned: NDArray[np.int64],
    places: dict[str, int],
) -> None:
    """Of one process, after the transfers of all: only what was transferred is of interest."""
    ranks = {path: _rank(parts) for (of, path, attribute), parts in found.parts.items()
             if of == file and not attribute}  # fmt: skip
    for each in chain(_deletions(user, ranks), _cuts(user, ranks)):
        rows = np.full(len(each.boxes), each.row)
        columns = columns_of(user, rows, returned, places, ())
        columns["act"] = np.full(len(rows), each.act)
        columns["boxed"] = np.full(len(rows), int(not each.certain))
        start, block = np.moveaxis(np.array(each.boxes, np.int64), 1, 0)
        slabs = Slabs(start, np.ones_like(start), block, block)
        found.parts[file, each.path, ""].append((columns, slabs))


def _rank(parts: list[Any]) -> int:
    return max(int(slabs.start.shape[1]) for _, slabs in parts)


def _deletions(user: User, ranks: dict[str, int]) -> Iterator[_Change]:
    """Each takes all of a dataset.

    Without arguments a trace tells only below which object a link was deleted: it may be that of
    each dataset there that this rank does not touch any more.
    """
    raw, process = user.seat.calls, user.seat.process
    deletes = user.mine & user.seat.are(("link_specific",)) & (raw["operation"] == _DELETE)
    for row in np.flatnonzero(deletes).tolist():
        base = process.objects[int(raw["object"][row])]["path"].rstrip("/") + "/"
        given = process.arguments.get(int(raw["number"][row]), {}).get("given")
        name = _name(given)
        if name:
            path = name if name.startswith("/") else base + name
            gone = [each for each in ranks if (each + "/").startswith(path + "/")]
        else:
            last, began = _last_transfers(user), int(raw["begin"][row])
            gone = [each for each in ranks if each.startswith(base) and last.get(each, 0) < began]
        for each in gone:
            box = ([0] * ranks[each], [_FAR] * ranks[each])
            yield _Change(row, each, DELETING, [box], certain=bool(name))


def _name(given: Any) -> str:
    """Of the link: by the place, the second argument."""
    place = given[1] if isinstance(given, list) and len(given) > 1 else None
    name = place.get("name") if isinstance(place, dict) and "at" not in place else None
    return name if isinstance(name, str) else ""


def _last_transfers(user: User) -> dict[str, int]:
    """When the last one of each path began."""
    raw, process = user.seat.calls, user.seat.process
    found: dict[str, int] = {}
    rows = np.flatnonzero(user.mine & user.seat.are((READ, WRITE)))
    for object_ in np.unique(raw["object"][rows]).tolist():
        path = process.objects[object_]["path"]
        last = int(raw["begin"][rows[raw["object"][rows] == object_]].max())
        found[path] = max(found.get(path, 0), last)
    return found


def _cuts(user: User, ranks: dict[str, int]) -> Iterator[_Change]:
    """By H5Dset_extent."""
    raw, process = user.seat.calls, user.seat.process
    resizes = user.seat.are(("dataset_specific",)) & (raw["operation"] == _SET_EXTENT)
    resizes &= user.mine
    if not resizes.any():
        return
    rows = np.flatnonzero(resizes | (user.mine & user.seat.are((READ, WRITE))))
    rows = rows[np.argsort(raw["begin"][rows], kind="stable")]
    by_path: dict[str, list[int]] = {}
    for row in rows.tolist():
        by_path.setdefault(process.objects[int(raw["object"][row])]["path"], []).append(row)
    for path in by_path.keys() & ranks.keys():
        extents = [_extent(user, row, resized=bool(resizes[row])) for row in by_path[path]]
        for place, row in enumerate(by_path[path]):
            if not resizes[row]:
                continue
            before = next((each for each in reversed(extents[:place]) if each), [])
            after = extents[place] or next((each for each in extents[place + 1 :] if each), [])
            if len(before) == len(after) == ranks[path] and (boxes := _cut_off(before, after)):
                yield _Change(row, path, CUTTING, boxes)


def _extent(user: User, row: int, *, resized: bool) -> list[int]:
    """Of the dataset after the call, as far as a trace tells it."""
    raw, process = user.seat.calls, user.seat.process
    if resized:
        told = process.arguments.get(int(raw["number"][row]), {}).get("extent")
        return told if isinstance(told, list) and all(isinstance(n, int) for n in told) else []
    return list(process.shapes.get(int(raw["file_shape"][row]), {}).get("dims", ()))


def _cut_off(before: list[int], after: list[int]) -> list[Box]:
    boxes = []
    for axis, (old, new) in enumerate(zip(before, after, strict=True)):
        if new < old:
            start, block = [0] * len(before), list(before)
            start[axis], block[axis] = new, old - new
            boxes.append((start, block))
    return boxes
