"""The promises of the layer `trace`, and what the samples say of each. Nothing here is typed in."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict, names
from bench.common.ways import Way

from headrace.bench.stacks import native

from .cases import BARE, CALLS, NULL, PROFILE, PYTHON, TRACE


def _seconds(sample: Sample) -> float:
    return float(sample["write_wall"] + sample.get("read_wall", 0.0))


def _added(ours: Sample, theirs: Sample) -> float:
    """Microseconds a call."""
    return float((ours["nanoseconds"] - theirs["nanoseconds"]) / ours["calls"] / 1000)


A_CALL, COST, SIZE, MEMORY = "added a call", "cost", "bytes a call", "memory"
JUDGE = Judge(
    {
        A_CALL: (_added, "µs"),
        COST: (lambda ours, theirs: _seconds(ours) / _seconds(theirs) - 1, "percent"),
        SIZE: (lambda ours, _theirs: ours["trace"]["bytes"] / ours["trace"]["calls"], "bytes"),
        MEMORY: (lambda ours, theirs: (ours["memory"] - theirs["memory"]) / (1 << 20), "MiB"),
    }
)
# All but the last are over the layer that does nothing.
CLAIMS = (
    *(Claim(f"{CALLS}/*", A_CALL, 0.2, most=True, stack=way.name) for way in (TRACE, PROFILE)),
    *(
        Claim(f"{CALLS}-h5py/*", A_CALL, 0.2, most=True, stack=way.name)
        for way in (TRACE, BARE, PROFILE)
    ),
    Claim("[!cp]*/*", COST, 0.02, most=True, stack=TRACE.name),
    Claim("cgns*/*", COST, 0.02, most=True, stack=TRACE.name),
    Claim("[!cp]*/*", COST, 0.01, most=True, stack=PROFILE.name),
    Claim("cgns*/*", COST, 0.01, most=True, stack=PROFILE.name),
    *(
        Claim(f"{PYTHON}/*", COST, most, most=True, stack=way.name)
        for way, most in ((TRACE, 0.05), (BARE, 0.02), (PROFILE, 0.01))
    ),
    *(
        Claim(f"{kernel}*/*", SIZE, 12, most=True, stack=TRACE.name)
        for kernel in ("e3sm", "iotest")
    ),
    *(Claim(f"{PYTHON}/*", MEMORY, 16, most=True, stack=way.name) for way in (TRACE, PROFILE)),
)


def over(samples: Sequence[Sample], way: Way) -> list[Sample]:
    """With what that way took in the place of native's."""
    kept = [each for each in samples if each["stack"] != native]
    return [{**each, "stack": native} if each["stack"] == way.name else each for each in kept]


def judge(samples: Sequence[Sample], claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """All claims, over `null`."""
    return JUDGE.verdicts(over(samples, NULL), claims)


def verdicts(samples: Sequence[Sample], quantity: str, way: Way) -> dict[str, Verdict]:
    """Of each case in that way, by "kernel/case"; `samples` say over what."""
    claim = Claim("*", quantity, 0, most=True, stack=way.name)
    found = {name: JUDGE.verdict(claim, name, samples) for name in names(samples)
             if _has(name, quantity)}  # fmt: skip
    return {name: each for name, each in found.items() if each.repeats}


def _has(case: str, quantity: str) -> bool:
    kernel = case.partition("/")[0]
    if quantity == A_CALL:
        return kernel.startswith(CALLS)
    return not kernel.startswith(CALLS) and (quantity != MEMORY or kernel == PYTHON)
