"""What is promised of the layer `stripe`, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict, names

from headrace.bench.stacks import native
from headrace.measuring.stats import Spread

from .cases import FUSE, IOR, STRIPES, ours, subfiling

OURS, PEER = ours(STRIPES[0]).name, subfiling(STRIPES[0]).name
FLAT = 1.2
WRITES, READS, RAW, COPY = "times as fast writes", "times as fast reads", "of raw", "times a copy"
QUANTITIES = {
    WRITES: (lambda mine, theirs: theirs["write_wall"] / mine["write_wall"], "times"),
    READS: (lambda mine, theirs: theirs["read_wall"] / mine["read_wall"], "times"),
    RAW: (lambda mine, theirs: theirs["baseline"]["write"] / mine["write_wall"], "times"),
    COPY: (lambda mine, theirs: mine["write_wall"] / theirs["write_wall"], "times"),
}
_JUDGE = Judge(QUANTITIES, OURS)
_LARGE = f"{IOR}-2-ranks/*"
OVER_SHARED = (
    Claim("*-ranks/*", WRITES, 1),
    Claim("*-ranks/*", READS, 1),
    Claim(f"{IOR}/*", READS, 1),
    Claim(_LARGE, RAW, 0.9),
    Claim(f"{FUSE}/*", COPY, 1.1, most=True),
)
OVER_SUBFILING = (Claim(_LARGE, WRITES, 3), Claim("*-ranks/*", WRITES, 1))


def over_subfiling(samples: Sequence[Sample]) -> list[Sample]:
    """With what HDF5's subfiling took in the place of native's."""
    kept = [each for each in samples if each["stack"] != native]
    return [{**each, "stack": native} if each["stack"] == PEER else each for each in kept]


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Over one shared file, then over HDF5's subfiling, then of one stripe size by another."""
    peers = over_subfiling(samples)
    beside = [claim for claim in OVER_SUBFILING if any(each["stack"] == native for each in peers)]
    return [
        *_JUDGE.verdicts(samples, OVER_SHARED),
        *(_of_peer(each) for each in _JUDGE.verdicts(peers, beside)),
        _flat(samples),
    ]


def _of_peer(verdict: Verdict) -> Verdict:
    return Verdict(**{**verdict.json(), "claim": f"{verdict.claim}, over {PEER}"})


def _flat(samples: Sequence[Sample]) -> Verdict:
    """The slowest stripe size by the fastest, of medians."""
    times = {
        name: [each["write_wall"] for each in samples
               if f"{each['kernel']}/{each['case']}" == name and each["stack"] == OURS
               and "error" not in each]
        for name in names(samples) if name.startswith(f"{IOR}-2-ranks/")
    }  # fmt: skip
    medians = [Spread.of(each).median for each in times.values() if each]
    claim = f"slowest by fastest stripe size ≤ {FLAT:g}x"
    if not medians:
        return Verdict(claim, _LARGE)
    ratio = max(medians) / min(medians)
    return Verdict(claim, _LARGE, ratio, ratio, ratio, min(map(len, times.values())),
                   met=ratio <= FLAT, every=ratio <= FLAT, bound=FLAT, at_most=True)  # fmt: skip
