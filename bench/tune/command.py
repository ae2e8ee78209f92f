"""The command line of run.py."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.command import Bench, run

from . import claims, page
from .cases import TUNE, cases
from .execute import Runner


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    return run(
        Bench(
            name="tune",
            about=__doc__,
            cases=cases,
            ours=TUNE.name,
            runner=lambda folder, _given: Runner(folder),
            judge=claims.judge,
            render=page.render,
        ),
        words,
    )
