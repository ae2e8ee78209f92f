"""The command line of run.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.common.command import Bench, run

from . import claims, hsds, page
from .cases import OURS, cases
from .execute import Runner

if TYPE_CHECKING:
    from argparse import ArgumentParser


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    return run(
        Bench(
            name="object",
            about=__doc__,
            cases=cases,
            ours=OURS,
            runner=lambda folder, given: Runner(folder, given.hsds),
            judge=claims.judge,
            render=page.render,
            options=_options,
        ),
        words,
    )


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--hsds", type=Path, default=hsds.VENV,
                        help="virtual environment that has HSDS and h5pyd")  # fmt: skip
