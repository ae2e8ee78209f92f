"""What has changed between two traces of a program, object by object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.trace.analysis.summary import Use, uses

if TYPE_CHECKING:
    from headrace.trace.model.reader import Trace


@dataclass(frozen=True)
class Change:
    """The use of an object in either trace; an empty one where only the other has it."""

    path: str
    before: Use
    after: Use

    @property
    def seconds(self) -> float:
        """How much longer the calls on it took in the second trace."""
        return self.after.seconds - self.before.seconds


def changes(before: Trace, after: Trace) -> list[Change]:
    """Of all objects, by their paths in whatever file, the largest difference of time first."""
    first, second = _by_path(before), _by_path(after)
    none = Use()
    found = [
        Change(path, first.get(path, none), second.get(path, none))
        for path in first.keys() | second.keys()
    ]
    return sorted(found, key=lambda each: (-abs(each.seconds), each.path))


def _by_path(trace: Trace) -> dict[str, Use]:
    """Files have other names in another run; objects of one path in several files are one here."""
    found: dict[str, Use] = {}
    for use in uses(trace):
        kept = found.setdefault(use.path, Use(path=use.path, kind=use.kind))
        kept.calls += use.calls
        kept.opened += use.opened
        kept.seconds += use.seconds
        kept.read += use.read
        kept.written += use.written
        kept.stored_read += use.stored_read
        kept.stored_written += use.stored_written
        kept.requests += use.requests
    return found
