"""Which kernels of `headrace bench` a run is like.

`neighbours.json` has the signatures of their cases, on one process and at the sizes of
`headrace-bench --quick`; scripts/neighbours.py makes it anew. Cases of equal signatures are one
neighbour: vpic's and bdcats' contiguous arrays, say, are written and read by the same calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.trace.analysis.signature import distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.trace.analysis.signature import Signature

FILE: Final = Path(__file__).with_suffix(".json")
_DIGITS: Final = 6


@dataclass(frozen=True)
class Neighbour:
    """Cases as KERNEL/CASE, and how far a run is from them, 0 to 1."""

    cases: tuple[str, ...]
    signature: Signature
    distance: float

    @property
    def name(self) -> str:
        """The first case, and how many are like it."""
        more = len(self.cases) - 1
        return f"{self.cases[0]} and {more} more" if more else self.cases[0]

    @property
    def kernels(self) -> tuple[str, ...]:
        """Each once."""
        return tuple(dict.fromkeys(case.partition("/")[0] for case in self.cases))


def nearest(run: Signature) -> list[Neighbour]:
    """All known neighbours, the nearest first."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    names = known["features"]
    found = []
    for each in known["runs"]:
        own = dict(zip(names, each["values"], strict=True))
        found.append(Neighbour(tuple(each["cases"]), own, distance(own, run)))
    return sorted(found, key=lambda each: each.distance)


def kept(signatures: Mapping[str, Signature]) -> dict[str, Any]:
    """What the file has of these cases."""
    together: dict[tuple[float, ...], list[str]] = {}
    features: list[str] = []
    for case, found in signatures.items():
        features = list(found)
        values = tuple(round(value, _DIGITS) for value in found.values())
        together.setdefault(values, []).append(case)
    runs = [{"cases": cases, "values": values} for values, cases in together.items()]
    return {"features": features, "runs": runs}
