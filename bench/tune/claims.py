"""What is promised of the rules, and what the samples say of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.claims import Claim, Judge, Sample, Verdict

from .cases import PYTHON, TUNE
from .programs import PROGRAMS

FASTER, BYTES, MEMORY = "times as fast", "of native's bytes", "more memory"
_MEMORY = (256 << 20) / (1 << 20)  # MiB, the layer's bound


def _wall(sample: Sample) -> float:
    return float(sample["write_wall"]) + float(sample.get("read_wall", 0))


QUANTITIES = {
    FASTER: (lambda ours, theirs: _wall(theirs) / _wall(ours), "times"),
    BYTES: (lambda ours, theirs: ours["bytes"] / theirs["bytes"], "times"),
    MEMORY: (lambda ours, theirs: (ours["memory"] - theirs["memory"]) / (1 << 20), "MiB"),
}
CLAIMS = (
    *(Claim(f"{PYTHON}/{each.name}", FASTER, each.gains) for each in PROGRAMS if each.gains),
    *(
        Claim(f"{PYTHON}/{each.name}", BYTES, each.bytes, most=True)
        for each in PROGRAMS
        if each.bytes
    ),
    Claim("*/*", FASTER, 1),
    Claim(f"{PYTHON}/*", MEMORY, _MEMORY, most=True),
)


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """Each of each case that it is of."""
    return Judge(QUANTITIES, TUNE.name).verdicts(samples, CLAIMS)
