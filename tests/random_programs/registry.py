"""The operations of programs: how often each is drawn, and how it becomes statements."""

from __future__ import annotations

from collections.abc import Callable

from random_programs.choices import Choices
from random_programs.model import Model

Operation = Callable[[Model, Choices], None]
OPERATIONS: dict[str, tuple[int, Operation]] = {}


def operation(weight: int) -> Callable[[Operation], Operation]:
    def enter(function: Operation) -> Operation:
        OPERATIONS[function.__name__] = (weight, function)
        return function

    return enter
