"""What is promised of the layer, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict

from headrace.bench.stacks import native

from .cases import (  # fmt: skip
    ASYNC,
    CHECKPOINTS,
    COPY,
    DISK,
    LISTS,
    LOADERS,
    ONCE,
    OURS,
    SIZES,
    STAGED,
    TENSORSTORE,
    WHOLE,
)

FIRST, LATER = "first epoch", "later epochs"
QUANTITIES = {
    FIRST: (lambda ours, theirs: theirs["first_wall"] / ours["first_wall"], "times"),
    LATER: (lambda ours, theirs: theirs["read_wall"] / ours["read_wall"], "times"),
    "cost": (lambda ours, theirs: ours["first_wall"] / theirs["first_wall"] - 1, "percent"),
    # Of the largest dataset beside the smallest.
    "growth": (lambda ours, _: ours["read_wall"] / ours["first_wall"] - 1, "percent"),
}
CLAIMS = (
    Claim(f"{LOADERS}/*-1-a-chunk", LATER, 10),
    Claim(f"{LOADERS}/*-16-a-chunk", LATER, 50),
    Claim(f"{LOADERS}/*-1-a-chunk", FIRST, 1.5),
    Claim(f"{LOADERS}/*-16-a-chunk", FIRST, 8),
    Claim(f"{LISTS}/*", LATER, 100),
    Claim(f"{ONCE}/*", "cost", 0.03, most=True),
    Claim(f"{WHOLE}/*", "cost", 0.03, most=True),
    Claim(f"{SIZES}/*", "growth", 0.1, most=True),
)
# Ours, a peer in the place of native HDF5, and what is promised beside it.
BESIDE = (
    (OURS, TENSORSTORE, Claim(f"{LOADERS}/fork-*", LATER, 3)),
    (OURS, COPY, Claim(f"{LOADERS}/fork-*", LATER, 0.8)),
    (OURS, COPY, Claim(f"{DISK}/*", LATER, 0.8)),
    ("cache,async", ASYNC, Claim(f"{WHOLE}/*", LATER, 1)),
    (STAGED, native, Claim(f"{CHECKPOINTS}/*", FIRST, 20)),
    (STAGED, ASYNC, Claim(f"{CHECKPOINTS}/*", FIRST, 1)),
    (STAGED, COPY, Claim(f"{CHECKPOINTS}/*", FIRST, 0.8)),
)


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Beside native HDF5, and beside peers in its place."""
    judged = Judge(QUANTITIES, OURS).verdicts(samples, CLAIMS)
    for ours, peer, claim in BESIDE:
        quantity = f"{claim.quantity} of {ours} beside {peer}"
        judge = Judge({quantity: QUANTITIES[claim.quantity]}, ours)
        others = [{**each, "stack": native if each["stack"] == peer else each["stack"]}
                  for each in samples if each["stack"] in (ours, peer)]  # fmt: skip
        judged += judge.verdicts(others, [Claim(claim.cases, quantity, claim.bound)])
    return judged
