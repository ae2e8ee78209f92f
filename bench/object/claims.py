"""What is wanted of the layer, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Quantity, Sample, Verdict

from headrace.bench.stacks import native

from .cases import ASYNC, CHUNKS, GROWTH, HSDS, OURS, PLAIN, SUITES, TREE

OPERATIONS = ("open", "list", "by_index", "add")  # of growth
_LEAST = 1e-4  # seconds, below which the clock and the system are what is measured


def _speed(side: str) -> Quantity:
    return lambda ours, theirs: theirs[f"{side}_wall"] / ours[f"{side}_wall"]


def _time(side: str) -> Quantity:
    return lambda ours, theirs: ours[f"{side}_wall"] / theirs[f"{side}_wall"]


def _growth(operation: str) -> Quantity:
    def of(ours: Sample, _: Sample) -> float:
        few, many = (max(each[f"{operation}_wall"], _LEAST) for each in ours["of"])
        return float(many / few)

    return of


QUANTITIES: dict[str, tuple[Quantity, str]] = {
    "time of writing": (_time("write"), "times"),
    "time of reading": (_time("read"), "times"),
    "speed of writing": (_speed("write"), "times"),
    "speed of reading": (_speed("read"), "times"),
    "time": (_time("run"), "times"),
} | {f"growth of {each}": (_growth(each), "times") for each in OPERATIONS}
CLAIMS = (
    Claim(f"{TREE}/*-groups", "time of writing", 1, most=True),
    Claim(f"{TREE}/*-groups", "time of reading", 1, most=True),
    *(
        Claim(f"{CHUNKS}/{cases}", f"speed of {side}", bound)
        for cases, bound in (("*-MiB", 1), ("*-synced", 1), ("*-gzip", 3))
        for side in ("writing", "reading")
    ),
    *(Claim(f"{GROWTH}/links", f"growth of {each}", 2, most=True) for each in OPERATIONS),
    *(
        Claim(f"{GROWTH}/chunks", f"growth of {each}", 2, most=True)
        for each in OPERATIONS
        if each != "by_index"
    ),
    Claim(f"{SUITES}/*", "time", 1.2, most=True),
)
# Peers in the place of native HDF5, and what is wanted beside them.
BESIDE = (
    *((HSDS, Claim(f"{TREE}/*-HSDS", f"speed of {side}", 100)) for side in ("writing", "reading")),
    *(
        (PLAIN, Claim(f"{CHUNKS}/{cases}", f"speed of {side}", 0.9))
        for cases in ("*-MiB", "*-synced")
        for side in ("writing", "reading")
    ),
    *((ASYNC, Claim(f"{CHUNKS}/*-gzip", f"speed of {side}", 1)) for side in ("writing", "reading")),
)


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Beside native HDF5, and beside peers in its place, of what was not skipped."""
    samples = [each for each in samples if "skipped" not in each]
    judged = Judge(QUANTITIES, OURS).verdicts(samples, CLAIMS)
    for peer, claim in BESIDE:
        quantity = f"{claim.quantity} beside {peer}"
        others = [{**each, "stack": native if each["stack"] == peer else each["stack"]}
                  for each in samples if each["stack"] in (OURS, peer)]  # fmt: skip
        judge = Judge({quantity: QUANTITIES[claim.quantity]}, OURS)
        judged += judge.verdicts(others, [Claim(claim.cases, quantity, claim.bound)])
    return judged
