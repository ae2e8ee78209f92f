"""Medians, spreads and intervals."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.measuring import stats
from headrace.measuring.stats import Ratio, Spread

_SECONDS = st.floats(1e-6, 1e6)


@given(st.lists(_SECONDS, min_size=1, max_size=30))
def test_a_spread_is_in_order(values: list[float]) -> None:
    spread = Spread.of(values)
    assert spread.median == statistics.median(values)
    assert spread.least == min(values)
    assert spread.most == max(values)
    assert spread.least <= spread.lower <= spread.median <= spread.upper <= spread.most
    assert 0 <= spread.deviation <= spread.most - spread.least


@given(st.lists(_SECONDS, min_size=1, max_size=20), st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_a_constant_factor_is_found_exactly(native: list[float], factor: float) -> None:
    before = dict(enumerate(native))
    found = stats.ratio(before, {number: each / factor for number, each in before.items()})
    assert found is not None
    assert found.median == pytest.approx(factor)
    assert found.pairs == len(native)
    assert (found.low is None) == (len(native) < 5)


@given(st.lists(_SECONDS, min_size=5, max_size=20), st.randoms(use_true_random=False))
def test_the_interval_holds_the_median(native: list[float], chance: random.Random) -> None:
    other = [each * chance.uniform(0.5, 2) for each in native]
    found = stats.ratio(dict(enumerate(native)), dict(enumerate(other)))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.median <= found.high
    assert found.coverage is not None
    assert found.coverage >= 0.9


def test_only_repeats_that_both_have_are_compared() -> None:
    assert stats.ratio({0: 4.0, 1: 100.0}, {0: 2.0, 2: 1.0}) == Ratio(2.0, 1)
    assert stats.ratio({0: 1.0}, {1: 1.0}) is None
    assert stats.ratio({0: 1.0}, {0: 0.0}) is None


@pytest.mark.parametrize(("count", "skipped"), [(4, None), (5, 0), (7, 0), (8, 1), (11, 2)])
def test_how_many_values_an_interval_leaves_out(count: int, skipped: int | None) -> None:
    assert stats.order(count) == skipped


def test_the_coverage_is_what_sampling_finds() -> None:
    chance = random.Random(1)  # noqa: S311
    hits = 0
    for _ in range(4000):
        values = sorted(chance.gauss(0, 1) for _ in range(8))
        hits += values[1] <= 0 <= values[-2]
    assert hits / 4000 == pytest.approx(stats.coverage(8, 1), abs=0.02)


def test_a_difference_within_the_interval_is_none() -> None:
    assert Ratio(1.5, 5, 1.2, 1.9, 0.94).verdict == "faster"
    assert Ratio(0.5, 5, 0.2, 0.9, 0.94).verdict == "slower"
    assert Ratio(1.5, 5, 0.9, 1.9, 0.94).verdict == ""
    assert Ratio(9.0, 2).verdict == ""
