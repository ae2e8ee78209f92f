"""From the times of all repetitions to medians, spreads and the cost per callback."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The stated target: nanoseconds per call and layer.
TARGET = 500.0


@dataclass(frozen=True)
class Spread:
    """A median and the distance between the quartiles."""

    median: float
    iqr: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) < 2:
            return cls(values[0], 0.0)
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(middle, high - low)


@dataclass(frozen=True)
class Cell:
    """One operation under one stack, in nanoseconds per operation."""

    program: str
    hdf5: str
    operation: str
    stack: str
    time: Spread
    added: Spread  # to native, each repetition compared with native's of the same repetition
    callbacks: float  # per operation, in all seats and layers
    breakdown: dict[str, float]

    @property
    def per_callback(self) -> float | None:
        """Added time for each callback; None where there are none."""
        return self.added.median / self.callbacks if self.callbacks else None

    @property
    def resolved(self) -> bool:
        """Whether the added time is more than the spread could have made up."""
        return self.added.median > self.added.iqr

    @property
    def over_target(self) -> bool:
        """Whether the figure is over the target, however wide its spread."""
        return self.per_callback is not None and self.per_callback > TARGET

    @property
    def misses_target(self) -> bool:
        """Over it by more than the spread could have made up."""
        least = self.added.median - self.added.iqr
        return self.over_target and least / self.callbacks > TARGET

    def row(self) -> dict[str, Any]:
        """Flat, for CSV."""
        return {
            "program": self.program,
            "hdf5": self.hdf5,
            "operation": self.operation,
            "stack": self.stack,
            "time_ns": round(self.time.median, 1),
            "time_iqr_ns": round(self.time.iqr, 1),
            "added_ns": round(self.added.median, 1),
            "added_iqr_ns": round(self.added.iqr, 1),
            "callbacks": round(self.callbacks, 4),
            "added_per_callback_ns": (
                "" if self.per_callback is None else round(self.per_callback, 1)
            ),
        }

    def json(self) -> dict[str, Any]:
        return asdict(self) | {"per_callback": self.per_callback}


def cell(
    labels: Mapping[str, str],
    times: Sequence[float],
    native: Sequence[float],
    breakdown: Mapping[str, float],
) -> Cell:
    """`times` and `native` hold one figure per repetition, in the same order."""
    added = [mine - theirs for mine, theirs in zip(times, native, strict=True)]
    return Cell(
        program=labels["program"],
        hdf5=labels["hdf5"],
        operation=labels["operation"],
        stack=labels["stack"],
        time=Spread.of(times),
        added=Spread.of(added),
        callbacks=sum(breakdown.values()),
        breakdown=dict(breakdown),
    )
