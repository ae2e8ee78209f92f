"""Calls that were made in others: HDF5's own, and a program's in an iteration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.model.process import Fact
    from headrace.trace.replay.step import Step

# In which HDF5 calls the program: by callback and operation.
_ITERATIONS: Final = {
    ("attr_optional", 0), ("attr_specific", 3), ("dataset_optional", 10), ("group_optional", 0),
    ("link_specific", 2), ("object_specific", 3),
}  # fmt: skip


def programs(steps: Sequence[Step], objects: Mapping[int, Fact]) -> list[Step]:
    """Those steps that the program made, by ids that a replay has.

    Others are made again by HDF5, within the calls that they were made in. An iteration hands an id
    of its own to the program, and closes it at its end; what the program did with it is done by the
    place that the iteration was begun at.
    """
    by_number = {step.number: step for step in steps}
    ends = {step.parent: step.number for step in steps if step.callback.endswith("_close")}
    found: list[Step] = []
    for step in steps:
        outer = by_number.get(step.parent)
        if outer is None:
            _add(step, found)
        elif (outer.callback, outer.operation) in _ITERATIONS and ends[outer.number] != step.number:
            found.append(_from_outside(step, outer, objects))
    return found


def _add(step: Step, found: list[Step]) -> None:
    """HDF5 makes more calls for a reference, of which a program knows one."""
    before = (found[-1].callback, found[-1].operation) if found else ("", -1)
    if before == ("object_specific", 2) and (step.callback, step.operation) == ("object_get", 0):
        return  # H5Rcreate has looked a name up, and asks for the file
    place = step.given.get("given", (None, None))[1]
    opens = step.callback == "object_open" and "token" in place
    if opens and before == ("file_get", 0) and len(found) > 1:
        if (found[-2].callback, found[-2].operation) == ("object_get", 0):
            del found[-2]  # it is asked for the file first
        self_, *rest = step.given["given"]
        given = [self_, {**place, "reference": True}, *rest[1:]]
        step = replace(step, given={**step.given, "given": given})
    found.append(step)


def _from_outside(step: Step, outer: Step, objects: Mapping[int, Fact]) -> Step:
    """The step, of the object that the iteration was begun by if it is of the one iterated over."""
    given = step.given.get("given")
    begun = outer.given.get("given")
    if not given or not begun or not begun[0] or "name" not in begun[1]:
        return step
    base = _path(objects, begun[0])
    name = begun[1]["name"]
    of_it = given[0] is None or (
        isinstance(given[0], list)
        and base is not None
        and given[0][1] == 0
        and _path(objects, given[0]) == _joined(base, name)
    )
    if not of_it:
        return step
    changed: dict[str, Any] = {"given": [begun[0], *given[1:]]}
    if isinstance(given[1], dict):
        changed["given"][1] = _at(name, given[1], begun[1]["of"])
    elif isinstance(native := step.given.get("native"), dict):
        place = _at(name, native["place"], begun[1]["of"])
        changed["native"] = {**native, "place": place}
    return replace(step, given={**step.given, **changed})


def _at(name: str, place: Fact, of: int) -> Fact:
    if "token" in place:
        return {**place, "of": of}
    return {**place, "of": of, "name": _joined(name, place.get("name", "."))}


def _path(objects: Mapping[int, Fact], object_: Sequence[int]) -> str | None:
    path = objects.get(object_[0], {}).get("path")
    return None if path is None else str(path)


def _joined(base: str, name: str) -> str:
    if name.startswith("/"):
        return name
    return base if name in {"", "."} else base.rstrip("/") + "/" + name
