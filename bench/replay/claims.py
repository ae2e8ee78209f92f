"""What is promised of a replay, and what the samples say of it. Nothing here is typed in."""

from __future__ import annotations

from bench.common.claims import Claim, Judge

from .cases import REPLAY

EQUAL, TIME = "requests that are equal in order", "time in HDF5"
JUDGE = Judge(
    {
        EQUAL: (
            lambda ours, _theirs: ours["equal"] / max(ours["recorded"], ours["requests"]) - 1,
            "percent",
        ),
        TIME: (lambda ours, theirs: ours["seconds"] / theirs["seconds"], "times"),
    },
    ours=REPLAY.name,
)
CLAIMS = (
    Claim("*", EQUAL, 0),
    Claim("*", TIME, 0.9),
    Claim("*", TIME, 1.1, most=True),
)
