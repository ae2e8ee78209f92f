"""What is run, in which order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# kernel, case, stack, ranks, repeat, warm-up
Key = tuple[str, str, str, int, int, bool]


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a kernel as headrace-bench or a peer lists it."""

    kernel: str
    name: str
    ranks: int = 1


@dataclass(frozen=True, slots=True)
class Job:
    """One process to run: a case under a stack, once."""

    case: Case
    stack: str
    repeat: int
    warmup: bool = False

    @property
    def key(self) -> Key:
        """What makes it that job."""
        case = self.case
        return case.kernel, case.name, self.stack, case.ranks, self.repeat, self.warmup


def key_of(record: Mapping[str, Any]) -> Key:
    """The key of the job that a record of samples.jsonl came from."""
    return (
        str(record.get("kernel")),
        str(record.get("case")),
        str(record.get("stack")),
        int(record.get("ranks", 1)),
        int(record.get("repeat", 0)),
        bool(record.get("warmup", False)),
    )


def schedule(
    cases: Sequence[tuple[Case, Sequence[str]]], repeats: int, warmup: int
) -> Iterator[Job]:
    """All jobs: per round every case, and within a case its stacks right after one another.

    Each round turns the order of the stacks round. What changes slowly, as the temperature of a
    processor or the fill of a disk, then changes all stacks alike, and none is always the first
    after another case.
    """
    for number in range(-warmup, repeats):
        for case, stacks in cases:
            turned = list(stacks) if number % 2 == 0 else list(reversed(stacks))
            for stack in turned:
                yield Job(case, stack, number + warmup if number < 0 else number, number < 0)
