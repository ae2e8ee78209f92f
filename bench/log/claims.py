"""The promises of the log layer, and what the samples say of each. Nothing here is typed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.common.claims import Claim, Judge, Sample, Verdict, names

from .cases import CLOSE, H5BENCH, KERNEL, LATER, RANKS, RANKS_LATER

PARTS = ("create", "select", "write", "flush", "close")
NOT_SLOWER = 1.05  # times native's seconds, which is no more than machines differ by
REQUEST = 16  # bytes of a request as it comes: where it begins, and how long it is


def _calls(sample: Sample) -> float:
    """Seconds until close but for building selections, where the kernel tells these."""
    return sum(
        float(sample["phases"][name]["max"])
        for name in PARTS
        if name != "select" and name in sample["phases"]
    )


UNTIL_CLOSE, IN_CALLS, READ = "until close", "in HDF5's calls", "read"
INDEX = "index smaller"  # than the requests as they come
# Native's over ours: above 1 is better.
QUANTITIES = {
    UNTIL_CLOSE: (lambda ours, theirs: theirs["write_wall"] / ours["write_wall"], "times"),
    IN_CALLS: (lambda ours, theirs: _calls(theirs) / _calls(ours), "times"),
    READ: (lambda ours, theirs: theirs["read_wall"] / ours["read_wall"], "times"),
    INDEX: (
        lambda ours, _theirs: REQUEST * ours["log"]["rows"] / ours["log"]["index_bytes"],
        "times",
    ),
}
_JUDGE = Judge(QUANTITIES)

CLAIMS = (
    Claim(f"{KERNEL}/f-boxes-*", UNTIL_CLOSE, 15, stack=LATER.name),
    Claim(f"{KERNEL}/f-boxes-*", UNTIL_CLOSE, 4, stack=CLOSE.name),
    Claim(f"{KERNEL}/f-canonical-*", IN_CALLS, 15, stack=LATER.name),
    Claim(f"{KERNEL}-*-ranks/f-boxes-*", UNTIL_CLOSE, 15, stack=RANKS_LATER.name),
    Claim(f"{KERNEL}-*-ranks/f-boxes-*", UNTIL_CLOSE, 4, stack=RANKS.name),
    Claim(f"{KERNEL}-*-ranks/f-canonical-*", IN_CALLS, 15, stack=RANKS_LATER.name),
    *(
        Claim(f"{kernel}/g-{calls}-*", UNTIL_CLOSE, 1, stack=way.name)
        for kernel, ways in ((KERNEL, (LATER, CLOSE)), (f"{KERNEL}-*-ranks", (RANKS_LATER, RANKS)))
        for way in ways
        for calls in ("boxes", "canonical")
    ),
    *(
        Claim(f"{H5BENCH}-*-ranks/*", UNTIL_CLOSE, 1 / NOT_SLOWER, stack=way.name)
        for way in (RANKS_LATER, RANKS)
    ),
    *(Claim(f"{KERNEL}/{which}-*", INDEX, 50, stack=LATER.name) for which in "fg"),
)


def judge(samples: Sequence[Sample], claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """All claims. None is met when any run failed: the layer that wrote it is the same."""
    found = _JUDGE.verdicts(samples, claims)
    if not failed(samples):
        return found
    return [replace(each, met=False, every=False) for each in found]


def failed(samples: Sequence[Sample]) -> list[Sample]:
    return [each for each in samples if "error" in each]


def ratios(samples: Sequence[Sample], quantity: str) -> dict[tuple[str, str], Verdict]:
    """Of each case and way beside native, by "kernel/case" and way."""
    ways = dict.fromkeys(way.name for way in (LATER, CLOSE, RANKS_LATER, RANKS))
    found = {
        (name, way): _JUDGE.verdict(Claim(name, quantity, 1, stack=way), name, samples)
        for name in names(samples)
        for way in ways
    }
    return {key: each for key, each in found.items() if each.repeats}
