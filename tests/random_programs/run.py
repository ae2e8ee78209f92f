"""Draws programs by hypothesis and shrinks the first that differs."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyFailure

from random_programs.compare import Arena, DifferenceError
from random_programs.draw import programs
from random_programs.translate import Program


def drive(arena: Arena, count: int, number: int, length: int = 14) -> None:
    """Raises DifferenceError with the shrunk program; unshrunk where it differs by chance."""

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        report_multiple_bugs=False,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(length))
    def agree(program: Program) -> None:
        arena.check(program)

    try:
        agree()
    except DifferenceError:
        shown = arena.found[-1].shown(arena.folder / "shrunk.py")
    except FlakyFailure:
        shown = "by chance: " + arena.found[0].shown(arena.folder / "first.py")
    else:
        return
    raise DifferenceError(f"seed {number}\n{shown}")
