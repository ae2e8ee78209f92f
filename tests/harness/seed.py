"""What a run tries of what is too much for each: all with LONG=1.

Each day random tests have another seed, said where pytest begins; TEST_SEED=S repeats
those of another day. Its name is not one that Headrace would take for a setting.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import TypeVar

T = TypeVar("T")

LONG = os.environ.get("LONG", "0") not in ("", "0")
SEED = int(os.environ.get("TEST_SEED") or f"{datetime.now(UTC):%Y%m%d}")


def of_the_day(things: Sequence[T], count: int) -> Sequence[T]:
    """So many of them, in their order; all with LONG=1."""
    if LONG or count >= len(things):
        return things
    places = Random(SEED).sample(range(len(things)), count)  # noqa: S311
    return [things[place] for place in sorted(places)]
