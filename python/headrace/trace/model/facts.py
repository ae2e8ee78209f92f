"""What a trace tells beside its tables: JSON objects, of which all that others rely on is checked.

docs/formats/trace.md says what they mean. Keys and kinds of facts that are not known here pass.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from headrace.trace.model.segments import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from headrace.trace.model.process import Fact
    from headrace.trace.model.segments import Segment

CALLS: Final = (
    "number", "parent", "begin", "duration", "callback", "operation", "object", "name", "failed",
    "thread", "bytes", "file_shape", "file_start", "memory_shape", "memory_start", "type",
    "collective", "io_mode", "no_collective_cause", "event_set", "line", "count",
)  # fmt: skip
REQUESTS: Final = (
    "call", "begin", "duration", "kind", "file", "type", "offset", "length", "span", "thread",
    "collective", "failed", "count",
)  # fmt: skip


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64


def _id(value: Any) -> bool:
    return _integer(value) and 0 <= value < 2**63


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _ids(value: Any) -> bool:
    return isinstance(value, list) and all(_integer(each) and each >= 0 for each in value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _columns(names: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda value: (
        _texts(value) and len(set(value)) == len(value) and set(names) <= set(value)
    )


def _filters(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and _integer(each.get("id")) and _ids(each.get("values"))
        for each in value
    )


def _type(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _text(value.get("class"))
        and _id(value.get("size"))
        and _text(value.get("order", ""))
    )


def _process(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    numbers = all(_id(value.get(name)) for name in ("pid", "time", "monotonic"))
    numbers = numbers and _id(value.get("known_ids", 0)) and _id(value.get("cores", 0))
    texts = all(_text(value.get(name, "")) for name in ("host", "hdf5", "library", "forked_from"))
    forked = "forked_from" not in value or "known_ids" in value
    return numbers and texts and forked and _texts(value.get("command", []))


def _opened(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(value.get(key) is None or _id(value[key]) for key in ("type", "space", "list"))
        and _id(value.get("superblock", 0))
        and _text(value.get("token", ""))
    )


# Kind, which is a fact's first key -> what must be there, and what may be.
_KEYS: Final[Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]] = {
    "format": (
        {"calls": _columns(CALLS), "requests": _columns(REQUESTS), "callbacks": _texts},
        {},
    ),
    "process": ({"process": _process}, {}),
    "thread": ({"thread": _id, "tid": _id}, {}),
    "storage": (
        {"storage": _id, "name": _text, "level": _id, "rank": _integer, "call": _id},
        {"ranks": _integer},
    ),
    "object": ({"object": _id, "file": _id, "kind": _text, "path": _text}, {}),
    "dataset": (
        {"dataset": _id, "type": _type, "layout": _text, "filters": _filters, "fills": _flag},
        {"dims": _ids, "chunk": _ids},
    ),
    "shape": (
        {"shape": _id, "kind": _text, "dims": _ids, "elements": _id},
        {"count": _ids, "stride": _ids, "block": _ids},
    ),
    "type": ({"type": _id, "is": _type}, {}),
    "name": ({"name": _id, "is": _text}, {}),
    "line": ({"line": _id}, {"source": _text, "at": _id, "module": _text, "offset": _id}),
    "arguments": ({"arguments": _id}, {"opened": _opened}),
    "encoded": ({"encoded": _id}, {"type": _text, "space": _text, "list": _text}),
    "file": (
        {"file": _id, "name": _text, "level": _id, "parallel": _flag, "call": _id},
        {"created": _flag},
    ),
}
_FORMAT: Final = 1


class NewerError(Exception):
    """The trace is of a format that came later than this reader."""


def facts(segment: Segment) -> Iterator[tuple[str, Fact]]:
    """The kind of each fact, which is its first key, and the fact; of kinds that are new, too.

    Raises DamagedError where one is not as it should be, and NewerError.
    """
    for line in filter(None, segment.contents.split(b"\n")):
        fact = _object(line, segment)
        kind = next(iter(fact), "")
        if kind == "format" and fact["format"] != _FORMAT:
            raise NewerError
        if wrong := _wrong(kind, fact):
            raise DamagedError(
                f"a fact in the segment at byte {segment.at} is not as it should be: "
                f"`{wrong}` of a fact `{kind}`"
            )
        yield kind, fact


def _object(line: bytes, segment: Segment) -> Fact:
    try:
        fact = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        fact = None
    if not isinstance(fact, dict):
        raise DamagedError(f"a fact in the segment at byte {segment.at} is no JSON object")
    return fact


def _wrong(kind: str, fact: Fact) -> str:
    """The first key that is missing or holds something else; empty where all is well."""
    must, may = _KEYS.get(kind, ({}, {}))
    for key, holds in must.items():
        if not holds(fact.get(key)):
            return key
    for key, holds in may.items():
        if key in fact and not holds(fact[key]):
            return key
    if kind == "line" and not (
        {"source", "at"} <= fact.keys() or {"module", "offset"} <= fact.keys()
    ):
        return "source"
    if kind == "shape":
        rank = len(fact["dims"])
        return next((key for key in may if key in fact and len(fact[key]) != rank), "")
    return ""
