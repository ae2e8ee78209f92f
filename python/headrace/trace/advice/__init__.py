"""What would help a program, by rule, with the numbers of its trace as evidence.

A rule looks at a dataset in one process, or at the whole run, and returns nothing where it has
nothing to say. Its expected gain is derived from the times of the calls and requests in question;
gains under a hundredth of the run, or of a second, are not told. Gains of several pieces of advice
do not add up, as they may be about the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from headrace.trace.advice import (
    chunks,
    elements,
    filters,
    loops,
    overlap,
    ranks,
    repeats,
    scattered,
    storage,
    tiny,
)  # fmt: skip
from headrace.trace.advice.advice import Advice
from headrace.trace.advice.evidence import Run, is_summed
from headrace.trace.summary import totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headrace.trace.reader import Trace
    from headrace.trace.summary import Use

__all__ = ["Advice", "advise"]

_OF_DATASETS: Final = (
    chunks.cache_too_small, chunks.rewritten_in_parts, chunks.wrong_shape, filters.in_one_thread,
    filters.needless, scattered.to_log, repeats.read_again, elements.filled_first,
    elements.converted, elements.united, loops.opened_again,
)  # fmt: skip
_OF_RUNS: Final = (
    tiny.datasets, tiny.attributes, filters.missing, scattered.together, overlap.behind,
    repeats.by_all_ranks, storage.alignment, storage.metadata_blocks, loops.files_again,
    loops.flushed, ranks.file_per_rank, ranks.shared_file,
)  # fmt: skip

# What needs neither selections nor the time and place of each call and request.
_OF_SUMS: Final = (tiny.datasets, tiny.attributes, loops.files_again, ranks.file_per_rank)


def advise(trace: Trace, found: Sequence[Use], most: int | None = None) -> list[Advice]:
    """The advice that promises most, in that order; `found`: the uses of the trace's objects.

    Of several processes it is told for the one that it would help most.
    """
    run = Run(trace, found, totals(trace, found))
    best: dict[tuple[str, str], Advice] = {}
    for advice in _given(run):
        key = (advice.rule, advice.subject)
        if advice.gain > 0 and (key not in best or best[key].gain < advice.gain):
            best[key] = advice
    worth = [each for each in _merged(list(best.values())) if each.gain >= run.noise]
    return sorted(worth, key=lambda each: -each.gain)[:most]


def _merged(found: Sequence[Advice]) -> Iterator[Advice]:
    """One piece for all that a rule finds at one line, with the evidence of the dearest."""
    alike: dict[tuple[str, str], list[Advice]] = defaultdict(list)
    for each in sorted(found, key=lambda each: -each.gain):
        alike[each.rule, each.line].append(each)
    for first, *others in alike.values():
        yield replace(
            first,
            subject=f"{first.subject} and {len(others)} more" if others else first.subject,
            gain=sum(each.gain for each in (first, *others)),
        )


def _given(run: Run) -> Iterator[Advice]:
    sums = any(is_summed(seat) for seat in run.trace.seats)
    for data in run.datasets:
        for of_dataset in (loops.opened_again,) if sums else _OF_DATASETS:
            if advice := of_dataset(data):
                yield advice
    for of_run in _OF_SUMS if sums else _OF_RUNS:
        yield from of_run(run)
