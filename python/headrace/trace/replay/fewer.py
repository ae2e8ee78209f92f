"""Several ranks of the program, whose calls one rank of a replay makes.

Calls that change what is in a file besides elements all ranks of a program make together: the first
of them makes these for the others. Between two of these each makes its own calls, one rank after
the other; a rank of the replay that has fewer of them takes part in collective transfers of the
others with nothing selected.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.trace.replay.plan import Plan
    from headrace.trace.replay.player import Player
    from headrace.trace.replay.step import Step

_CREATES: Final = {
    "file_create", "file_open", "group_create", "dataset_create", "attr_create", "datatype_commit",
}  # fmt: skip
_CHANGES: Final = {
    "attr_write", "link_create", "link_copy", "link_move", "object_copy", "file_specific",
    "dataset_specific",
}  # fmt: skip
# Operations of HDF5's lists that change: H5VL_attr_specific_t and so on.
_CHANGING_OPERATIONS: Final = {
    ("attr_specific", 0), ("attr_specific", 1), ("attr_specific", 4), ("link_specific", 0),
    ("object_specific", 4),
}  # fmt: skip


@dataclass
class Part:
    """A call that all ranks make together (None at the beginning), and a rank's own after it."""

    together: Step | None
    own: list[Step] = field(default_factory=list)


_MISSING: Final = Part(None)


def parts(plan: Plan) -> list[Part]:
    """Of all calls of one rank."""
    found = [Part(None)]
    opened: dict[tuple[int, int], list[bool]] = defaultdict(list)  # whether together, by object
    for step in plan.steps:
        together = _is_together(plan, step)
        if step.callback.endswith("_close"):
            together = bool(opened[step.key]) and opened[step.key].pop(0)
        elif step.callback in _CREATES or step.callback.endswith("_open"):
            opened[step.key].append(together)
        if together:
            found.append(Part(step))
        else:
            found[-1].own.append(step)
    return found


def _is_together(plan: Plan, step: Step) -> bool:
    changes = (
        step.callback in _CREATES | _CHANGES
        or (step.callback, step.operation) in _CHANGING_OPERATIONS
    )
    return changes and (step.failed or plan.parallel(step))


def play(players: Sequence[Player], plans: Sequence[Plan], rounds: int) -> None:
    """All calls of these ranks; `rounds`: how many ranks the one with the most has."""
    for turn in zip_longest(*(parts(each) for each in plans), fillvalue=_MISSING):
        first = turn[0]
        if any(_word(part) != _word(first) for part in turn):
            raise FileError(
                "the ranks of this trace have not made the same calls together: only as many can "
                "make them again"
            )
        _make_together(players, turn)
        for player, part in zip(players, turn, strict=True):
            for step in part.own:
                player.make(step)
        # Collective transfers of other ranks are of the same datasets as the own ones.
        for _ in range(len(players), rounds):
            for step in (each for each in first.own if each.collective):
                players[0].transfers.take_part(step)


def _make_together(players: Sequence[Player], turn: Sequence[Part]) -> None:
    made = turn[0].together
    if made is None:
        return
    players[0].make(made)
    for player, part in zip(players[1:], turn[1:], strict=True):
        if part.together is not None:
            player.take(part.together, players[0], made)


def _word(part: Part) -> str:
    return "" if part.together is None else part.together.callback
