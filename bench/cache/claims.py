"""What is promised of the layer, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict

from headrace.bench.stacks import native

from .cases import COPY, LISTS, LOADERS, ONCE, OURS, TENSORSTORE

FIRST, LATER = "first epoch", "later epochs"
QUANTITIES = {
    FIRST: (lambda ours, theirs: theirs["first_wall"] / ours["first_wall"], "times"),
    LATER: (lambda ours, theirs: theirs["read_wall"] / ours["read_wall"], "times"),
    "cost": (lambda ours, theirs: ours["first_wall"] / theirs["first_wall"] - 1, "percent"),
}
CLAIMS = (
    Claim(f"{LOADERS}/*-1-a-chunk", LATER, 10),
    Claim(f"{LOADERS}/*-16-a-chunk", LATER, 50),
    Claim(f"{LOADERS}/*-1-a-chunk", FIRST, 1.5),
    Claim(f"{LOADERS}/*-16-a-chunk", FIRST, 8),
    Claim(f"{LISTS}/*", LATER, 100),
    Claim(f"{ONCE}/*", "cost", 0.03, most=True),
)
BESIDE = {
    TENSORSTORE: Claim(f"{LOADERS}/fork-*", LATER, 3),
    COPY: Claim(f"{LOADERS}/fork-*", LATER, 0.8),
}


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Beside native HDF5, and beside peers in its place."""
    judged = Judge(QUANTITIES, OURS).verdicts(samples, CLAIMS)
    for peer, claim in BESIDE.items():
        quantity = f"{claim.quantity} beside {peer}"
        judge = Judge({quantity: QUANTITIES[claim.quantity]}, OURS)
        others = [{**each, "stack": native if each["stack"] == peer else each["stack"]}
                  for each in samples if each["stack"] in (OURS, peer)]  # fmt: skip
        judged += judge.verdicts(others, [Claim(claim.cases, quantity, claim.bound)])
    return judged
