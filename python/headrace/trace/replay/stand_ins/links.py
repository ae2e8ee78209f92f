"""Which paths calls that make, move and remove links are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headrace.trace.replay.step import Step

Place = tuple[Any, ...]  # an object as the trace has it, and names from there
DELETE: Final = "link_specific", 0


def beginning(step: Step) -> Place:
    """Where a step begins at, and the name of what it is about."""
    return step.given["given"][0], step.place.get("name", ".")


def _made_link(step: Step) -> tuple[Place, Place]:
    what, at, place = step.given["given"][:3]
    source = (what or {}).get("hard"), (what or {}).get("place", {}).get("name", ".")
    return source, (at, place.get("name", "."))


def _copied_object(step: Step) -> tuple[Place, Place]:
    source, from_, old, target, to, new = step.given["given"][:6]
    return (source, from_.get("name", "."), old), (target, to.get("name", "."), new)


def _other_link(step: Step) -> tuple[Place, Place]:
    """Of one that is moved or copied; a program may name one of both places."""
    source, from_, target, to = step.given["given"][:4]
    return (source or target, from_["name"]), (target or source, to["name"])


# What was there and what is made, by callback.
LINKS: Final[dict[str, Callable[[Step], tuple[Place, Place]]]] = {
    "link_create": _made_link,
    "object_copy": _copied_object,
    "link_copy": _other_link,
    "link_move": _other_link,
}
