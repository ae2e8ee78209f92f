"""Compare what each check of a suite ended with, natively and under a stack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

Outcomes = Mapping[str, str]

# Paths of temporary files, addresses and times differ between any two runs.
VARYING = re.compile(r"/\S*|0x[0-9a-f]+|\d+\.\d+|\b(?=\w*\d)\w{8,}\b")


def from_junit(path: Path) -> dict[str, str]:
    """Test -> `passed`, or the kind and the first line of the reason.

    The reason belongs to the outcome: a test that fails natively for lack of permissions checks
    (as root) and under a stack for another cause is a difference.
    """
    outcomes: dict[str, str] = {}
    for case in ElementTree.parse(path).iter("testcase"):  # noqa: S314
        name = f"{case.get('classname')}::{case.get('name')}"
        ends = []
        for part in case:
            if part.tag in ("failure", "error", "skipped"):
                reason = (part.get("message") or "").splitlines()[:1]
                ends.append(" ".join([part.tag, *(VARYING.sub("*", line) for line in reason)]))
        # Subtests and repeated names share one entry.
        outcomes[name] = "; ".join(filter(None, [outcomes.get(name), *(ends or ["passed"])]))
    return outcomes


def differences(native: Outcomes, other: Outcomes) -> dict[str, tuple[str, str]]:
    names = sorted(native.keys() | other.keys())
    pairs = {name: (native.get(name, "absent"), other.get(name, "absent")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def tally(outcomes: Outcomes) -> Counter[str]:
    return Counter(end.split(" ")[0] for end in outcomes.values())


def explain(different: Mapping[str, tuple[str, str]]) -> str:
    lines = [f"  {name}\n    native: {a}\n    here:   {b}" for name, (a, b) in different.items()]
    return f"{len(different)} outcomes differ\n" + "\n".join(lines[:40])
