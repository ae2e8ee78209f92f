"""How long a program's calls take under a candidate: replays of its trace."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.trace.replay.run import NATIVE as NATIVE_STACK
from headrace.trace.replay.run import Replay, differences, prepared, replay
from headrace.tune.budget import OverError
from headrace.tune.space import NATIVE, stack_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from headrace.trace.replay.choices import Choices
    from headrace.tune.budget import Budget
    from headrace.tune.space import Candidate

# A candidate is given up when it takes so many times as long as native HDF5, and these seconds.
_SLOWER: Final = 3
_LEAST: Final = 10.0


class Replays:
    """Of traces, each in a folder of its own, which the caller removes."""

    def __init__(
        self, traces: Sequence[Path], folder: Path, choices: Choices, budget: Budget
    ) -> None:
        """`folder` must not be there yet. Raises what `Replayed` does, and OverError."""
        self._budget = budget
        choices = replace(choices, until=budget.until)
        with self._in_time():
            self._all = [
                Replayed(each, folder / str(number), choices) for number, each in enumerate(traces)
            ]

    def seconds(self, candidate: Candidate) -> float:
        """In HDF5, of one replay of each trace together.

        Raises what `Replayed` does, and OverError where a replay was ended by the budget.
        """
        with self._in_time():
            return sum(each.seconds(candidate) for each in self._all)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            yield
        except FileError:
            if self._budget.left <= 0:
                raise OverError from None
            raise


class Replayed:
    """One trace, in a folder that must not be there yet, and that the caller removes."""

    def __init__(self, trace: Path, folder: Path, choices: Choices) -> None:
        """Makes values as large as the program's where chunks have filters. Raises FileError."""
        self._trace = trace.absolute()
        self._folder = folder
        folder.mkdir(parents=True)
        self._choices = prepared(self._trace, folder / "values", choices)
        self._count = 0
        self._native: Replay | None = None

    def seconds(self, candidate: Candidate) -> float:
        """In HDF5, of one replay; the first is a native one, whatever is asked for.

        Raises FileError where plain HDF5 does not read the same afterwards as after a native
        replay, and what the replay raises.
        """
        if self._native is None:
            began = time.monotonic()
            self._native = self._replay(NATIVE)
            limit = _LEAST + _SLOWER * (time.monotonic() - began)
            self._choices = replace(self._choices, limit=min(limit, self._choices.limit))
            if candidate == NATIVE:
                return self._native.likeness.replayed_seconds
        made = self._replay(candidate)
        if different := differences(self._native, made):
            raise FileError(
                f"after a replay under {stack_of(candidate)} plain HDF5 reads something else of "
                f"{', '.join(different[:3])}"
            )
        return made.likeness.replayed_seconds

    def _replay(self, candidate: Candidate) -> Replay:
        where = self._folder / str(self._count)
        self._count += 1
        stack = stack_of(candidate) if candidate else NATIVE_STACK
        try:
            return replay(self._trace, stack, where, self._choices)
        finally:
            shutil.rmtree(where, ignore_errors=True)
