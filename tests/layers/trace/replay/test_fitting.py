"""Values are mixed so that filters take as long as they took for the program's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from headrace.trace.replay.hdf5.chunked import Mix, fitting

if TYPE_CHECKING:
    from headrace.trace.replay.hdf5.chunked import Chunked


@dataclass(frozen=True)
class Dataset:
    """Each kind of values takes its filters so many seconds."""

    by_kind: dict[int, float]

    def longer(self, kind: int) -> float:
        return self.by_kind[kind]


def mix(longer: float) -> Mix:
    one, other = Dataset({2: 3, 3: 2, 4: 1, 6: -1}), Dataset({2: 2, 3: 2, 4: 2, 6: 2})
    return fitting([cast("Chunked", one), cast("Chunked", other)], longer)


def test_between_two_kinds_each_gets_its_part() -> None:
    assert mix(3.25) == Mix(4, 3, 0.25)
    chosen = [mix(3.25).kind(number) for number in range(1000)]
    assert chosen.count(3) == pytest.approx(250, abs=2)
    assert chosen.count(4) == 1000 - chosen.count(3)


@pytest.mark.parametrize(("longer", "kind"), [(-5, 6), (100, 2)])
def test_beyond_all_kinds_the_nearest_is_taken(longer: float, kind: int) -> None:
    assert {mix(longer).kind(number) for number in range(100)} == {kind}
