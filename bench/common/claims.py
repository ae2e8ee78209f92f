"""Promises of a layer, and what the samples say of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from headrace.bench.stacks import native
from headrace.measuring.stats import Spread

Sample = Mapping[str, Any]
# From a sample of ours and native's of the same repeat.
Quantity = Callable[[Sample, Sample], float]


@dataclass(frozen=True)
class Claim:
    """`cases` is a pattern of "kernel/case"; the bound is the least, or the most if `most`.

    `stack` is whose it is where several of ours are compared.
    """

    cases: str
    quantity: str
    bound: float
    most: bool = False
    stack: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim for one case. Met by the median; `every` says whether each repeat alone agrees."""

    claim: str
    case: str
    median: float | None = None
    least: float | None = None
    most: float | None = None
    repeats: int = 0
    met: bool = False
    every: bool = False
    unit: str = "times"
    bound: float = 0.0
    at_most: bool = False

    def json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Judge:
    """Quantities by name, each with its unit, and the stack of claims that name none."""

    quantities: Mapping[str, tuple[Quantity, str]]
    ours: str = ""

    def text(self, claim: Claim) -> str:
        """The bound as people read it."""
        unit = self.quantities[claim.quantity][1]
        plain = f"{claim.bound:g}x" if unit == "times" else f"{claim.bound:g} {unit}"
        shown = f"{claim.bound:.0%}" if unit == "percent" else plain
        return f"{claim.quantity} {'≤' if claim.most else '≥'} {shown}"

    def verdicts(self, samples: Sequence[Sample], claims: Sequence[Claim]) -> list[Verdict]:
        """One for each claim and case that it is of; a claim without any sample is not met."""
        found = []
        for claim in claims:
            matching = [name for name in names(samples) if fnmatchcase(name, claim.cases)]
            found += [self.verdict(claim, name, samples) for name in matching or [claim.cases]]
        return found

    def verdict(self, claim: Claim, case: str, samples: Sequence[Sample]) -> Verdict:
        """Of one case; no figures where a run of ours failed."""
        quantity, unit = self.quantities[claim.quantity]
        stack = claim.stack or self.ours
        shown = f"{case}, {stack}" if claim.stack else case
        verdict = Verdict(self.text(claim), shown, unit=unit, bound=claim.bound, at_most=claim.most)
        found = pairs(samples, case, stack)
        failed = any(
            "error" in each and each["stack"] == stack and name_of(each) == case for each in samples
        )
        if failed or not found:
            return verdict
        return _weighed(verdict, [quantity(ours, theirs) for ours, theirs in found])


def _weighed(verdict: Verdict, each: Sequence[float]) -> Verdict:
    spread = Spread.of(each)

    def holds(value: float) -> bool:
        return value <= verdict.bound if verdict.at_most else value >= verdict.bound

    return replace(
        verdict,
        median=spread.median,
        least=spread.least,
        most=spread.most,
        repeats=len(each),
        met=holds(spread.median),
        every=all(map(holds, each)),
    )


def name_of(sample: Sample) -> str:
    return f"{sample['kernel']}/{sample['case']}"


def names(samples: Sequence[Sample]) -> list[str]:
    """All cases that were tried, also those that failed."""
    return list(dict.fromkeys(map(name_of, samples)))


def pairs(samples: Sequence[Sample], case: str, stack: str) -> list[tuple[Sample, Sample]]:
    """The good samples of a stack and native's by repeat; `case` is "kernel/case"."""
    good = [
        each
        for each in samples
        if name_of(each) == case and "error" not in each and not each.get("warmup")
    ]
    theirs = {each["repeat"]: each for each in good if each["stack"] == native}
    ours = {each["repeat"]: each for each in good if each["stack"] == stack}
    return [(ours[number], theirs[number]) for number in sorted(ours.keys() & theirs.keys())]
