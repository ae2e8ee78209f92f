"""The promises of the async stack, and what the samples say of each. Nothing here is typed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.common.claims import Claim, Judge, Quantity, Sample, Verdict, names
from bench.common.claims import pairs as pairs_of

from .cases import ASYNC


def _wall(side: str) -> Quantity:
    return lambda ours, theirs: theirs[side] / ours[side]


def _phase(sample: Sample, *names: str) -> float:
    return sum(float(sample["phases"].get(name, {"max": 0.0})["max"]) for name in names)


def _blocked(ours: Sample, theirs: Sample) -> float:
    """In calls that write, or wait for that. Native's over ours: above 1 is better."""
    return _phase(theirs, "write", "flush") / _phase(ours, "write", "flush")


def _to_ideal(ours: Sample, theirs: Sample) -> float:
    """The whole over the longer of computing and of all that native did besides."""
    other = theirs["write_wall"] - _phase(theirs, "compute")
    return float(ours["write_wall"] / max(_phase(ours, "compute"), other))


def _size(ours: Sample, theirs: Sample) -> float:
    return float(ours["bytes"]["file"] / theirs["bytes"]["file"])


def _cost(side: str) -> Quantity:
    return lambda ours, theirs: ours[side] / theirs[side] - 1


WRITE, READ = _wall("write_wall"), _wall("read_wall")
QUANTITIES: dict[str, tuple[Quantity, str]] = {
    "write": (WRITE, "times"),
    "read": (READ, "times"),
    "blocked": (_blocked, "times"),
    "total": (WRITE, "times"),
    "total to max(compute, I/O)": (_to_ideal, "times"),
    "file size": (_size, "times"),
    "cost of writing": (_cost("write_wall"), "percent"),
    "cost of reading": (_cost("read_wall"), "percent"),
}

_JUDGE = Judge(QUANTITIES, ASYNC)
CLAIMS = (
    *(
        Claim(f"field/gzip-4{kind}-[0-9]*MiB", side, bound)
        for kind, side, bound in (
            ("", "write", 6), ("-shuffle", "write", 4), ("", "read", 4), ("-shuffle", "read", 4)
        )
    ),
    Claim("field/*", "file size", 1.01, most=True),
    *(
        Claim(f"field/{codec}-*", side, 1.6)
        for codec in ("zstd", "blosc")
        for side in ("write", "read")
    ),
    Claim("rows/in-order", "read", 20),
    Claim("rows/random-fitting", "read", 20),
    Claim("rows/written-in-order", "write", 20),
    Claim("rows/random-beyond", "read", 1),
    Claim("phases/*-model", "blocked", 20),
    Claim("phases/*-model", "total to max(compute, I/O)", 1.05, most=True),
    Claim("phases/write-*-disk", "blocked", 2),
    Claim("phases/lent-*-disk", "blocked", 10),
    Claim("phases/*-disk", "total", 1),
    Claim("ahead/contiguous-model", "read", 1.5),
    Claim("ahead/gzip-4-model", "read", 1.2),
    Claim("small/permuted-disk", "write", 1.4),
    Claim("small/permuted-model", "write", 20),
    *(
        Claim(f"small/{pattern}-*-calls-{device}", "write", bound)
        for pattern in ("strided", "member")
        for device, bound in (("disk", 3), ("model", 20))
    ),
    Claim("selections/lists-gzip", "read", 50),
    Claim("selections/lists-cold-gzip", "read", 4),
    Claim("selections/lists*-chunked", "read", 20),
    Claim("selections/lists*-contiguous", "read", 10),
    Claim("selections/mask-*", "read", 5),
    Claim("selections/runs-*", "read", 10),
    Claim("selections/points-*", "read", 1),
    Claim("metadata/tiny-datasets-disk", "write", 1),
    Claim("metadata/tiny-datasets-model", "write", 3),
    *(
        Claim(f"metadata/{name}", f"cost of {side}", 0.05, most=True)
        for name in ("tree", "kernel")
        for side in ("writing", "reading")
    ),
)  # fmt: skip


def pairs(samples: Sequence[Sample], case: str) -> list[tuple[Sample, Sample]]:
    """The good samples of async and native's by repeat; `case` is "kernel/case"."""
    return pairs_of(samples, case, ASYNC)


def verdicts(samples: Sequence[Sample], claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """One for each claim and case that it is of; a claim without any sample is not met."""
    return _JUDGE.verdicts(samples, claims)


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """All claims, and that no case at all is slower."""
    return verdicts(samples) + never_slower(samples)


def never_slower(samples: Sequence[Sample]) -> list[Verdict]:
    """The claim on all cases at once, by the worst of them; nothing without any."""
    each = ratios(samples)
    words = f"never slower, the worst of {len(each)}"
    return [replace(worst, claim=f"{worst.claim.split()[0]}: {words}") for worst in each[:1]]


def ratios(samples: Sequence[Sample]) -> list[Verdict]:
    """Each side of each case against "never slower than native", the worst first."""
    found = [
        _JUDGE.verdict(Claim(name, side, 1), name, samples)
        for name in names(samples)
        for side in ("write", "read")
        if all(f"{side}_wall" in each for pair in pairs(samples, name) for each in pair)
    ]
    return sorted((each for each in found if each.median), key=lambda each: each.median or 0)
