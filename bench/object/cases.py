"""What is measured, and by which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common.ways import NATIVE, Way

OURS, ASYNC, PLAIN, HSDS = "object", "async", "plain files", "HSDS"
TREE, CHUNKS, GROWTH, PATTERNS, SUITES = "tree", "chunks", "growth", "patterns", "suites"
POWER = "power"

_OBJECT = Way(OURS, OURS)
_PLAIN = Way(PLAIN, peer="plain")


@dataclass(frozen=True)
class Case:
    """`parameters` are what the kernel's processes are told."""

    kernel: str
    name: str
    parameters: Mapping[str, Any]
    ways: Sequence[Way] = (NATIVE, _OBJECT)
    ranks: int = field(default=1, init=False)


def _chunks(name: str, count: int, ways: Sequence[Way], durable: str = "process",
            *, gzip: bool = False) -> Case:  # fmt: skip
    return Case(CHUNKS, name, {"count": count, "gzip": gzip, "durable": durable}, ways)


def _patterns(*, quick: bool) -> list[Case]:
    counts = {"rewrite": 1000, "scatter": 10_000, "files": 1000, "native-files": 1000,
              "alternate": 200, "single-reads": 20_000}  # fmt: skip
    return [
        Case(PATTERNS, name, {"pattern": name, "count": count // (100 if quick else 1)})
        for name, count in counts.items()
    ]


def cases(*, quick: bool) -> list[Case]:
    """Of the sizes of tests, or of those of results."""
    groups, mib, few, many = (300, 4, 200, 3000) if quick else (100_000, 1024, 2000, 1_000_000)
    powered = Way(OURS, f"{OURS}(durable={POWER})")
    return [
        Case(TREE, f"{groups}-groups", {"count": groups}),
        # HSDS takes too long for as many: so few by all three ways.
        Case(TREE, f"{min(groups, 1000)}-groups-beside-HSDS", {"count": min(groups, 1000)},
             (NATIVE, _OBJECT, Way(HSDS, peer="hsds"))),
        _chunks(f"{mib}-MiB", mib, (NATIVE, _OBJECT, _PLAIN)),
        _chunks(f"{mib}-MiB-synced", mib, (NATIVE, powered, _PLAIN), POWER),
        _chunks(f"{mib // 4}-MiB-gzip", mib // 4, (NATIVE, _OBJECT, Way(ASYNC, ASYNC)), gzip=True),
        *(Case(GROWTH, of, {"of": of, "counts": [few, many]}) for of in ("links", "chunks")),
        *_patterns(quick=quick),
        *(Case(SUITES, suite, {"suite": suite, "part": _FEW[suite] if quick else ""})
          for suite in _FEW),
    ]  # fmt: skip


# Of suites what tests run of them.
_FEW = {"h5py": "tests.test_group", "netCDF4": "test_dims.py"}
