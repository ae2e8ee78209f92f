"""What is promised of advice, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict

from .cases import FOLLOWED, KERNEL

GAINED = "gained of what was told"
QUANTITIES = {
    GAINED: (
        lambda ours, theirs: (theirs["write_wall"] - ours["write_wall"]) / ours["estimate"],
        "times",
    )
}
CLAIMS = (
    Claim(f"{KERNEL}/*", GAINED, 0.5),
    Claim(f"{KERNEL}/*", GAINED, 2, most=True),
)


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Both of each rule."""
    return Judge(QUANTITIES, FOLLOWED).verdicts(samples, CLAIMS)
