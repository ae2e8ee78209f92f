"""One call that is made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.trace.model.process import Fact


@dataclass(frozen=True)
class Step:
    """One call: HDF5's callback and operation, what it was made on, and what it was given."""

    number: int
    parent: int  # the call that it was made in
    callback: str
    operation: int
    key: tuple[int, int]  # the object, and the name of its attribute
    given: Fact
    bytes: int
    begin: int
    duration: int
    failed: bool
    collective: bool  # a transfer that all ranks make together

    @property
    def place(self) -> Fact:
        """Where it looks for what it is about, beside the object that it was made on."""
        given = self.given.get("given", ())
        return dict(given[1]) if len(given) > 1 and isinstance(given[1], dict) else {}
