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

from headrace.trace.analysis.advice import (  # fmt: skip
    caches,
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
)
from headrace.trace.analysis.advice.advice import Advice
from headrace.trace.analysis.advice.evidence import Run
from headrace.trace.analysis.advice.process import is_summed
from headrace.trace.analysis.summary import totals
from headrace.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headrace.trace.analysis.summary import Use
    from headrace.trace.model.reader import Trace

__all__ = ["Advice", "advise"]

_OPTIONS: Final = 8  # datasets that one command is told for

_OF_DATASETS: Final = (
    caches.cache_too_small, caches.rewritten_in_parts, chunks.wrong_shape, chunks.tiny_chunks,
    filters.in_one_thread, filters.needless, filters.missing, scattered.to_log,
    scattered.together, repeats.read_again, elements.filled_first, elements.converted,
    elements.united, loops.opened_again,
)  # fmt: skip
_OF_PROCESSES: Final = (
    tiny.attributes, overlap.behind, storage.alignment, storage.metadata_blocks, loops.files_again,
    loops.flushed,
)  # fmt: skip
_OF_RUNS: Final = (
    tiny.datasets, repeats.by_all_ranks, repeats.decoded_by_several,
    ranks.file_per_rank, ranks.files_alike, ranks.shared_file,
)  # fmt: skip

# What needs neither selections nor the time and place of each call and request.
_OF_SUMS: Final = (
    tiny.datasets, tiny.attributes, loops.opened_again, loops.files_again, ranks.file_per_rank,
    ranks.files_alike,
)  # fmt: skip


def advise(trace: Trace, found: Sequence[Use], most: int | None = None) -> list[Advice]:
    """The advice that promises most, in that order; `found`: the uses of the trace's objects.

    Of several processes it is told for the one that it would help most.
    """
    run = Run(trace, found, totals(trace, found))
    best: dict[tuple[str, str | frozenset[str]], Advice] = {}
    for process in _given(run):
        for subjects, advice in _merged([each for each in process if each.gain > 0]):
            # Which of several datasets is the dearest differs from one rank to another.
            key = (advice.rule, advice.line or subjects)
            if key not in best or best[key].gain < advice.gain:
                best[key] = advice
    worth = [each for each in best.values() if each.gain >= run.noise]
    return sorted(worth, key=lambda each: -each.gain)[:most]


def _merged(found: Sequence[Advice]) -> Iterator[tuple[frozenset[str], Advice]]:
    """One piece for all that a rule finds at one line, with the evidence of the dearest.

    Each with the subjects of all that it is for.
    """
    alike: dict[tuple[str, str], list[Advice]] = defaultdict(list)
    for each in sorted(found, key=lambda each: -each.gain):
        alike[each.rule, each.line].append(each)
    for first, *others in alike.values():
        subjects = frozenset(each.subject for each in (first, *others))
        names = len(subjects) - 1
        times = sum(each.subject == first.subject for each in others)
        subject = f"{first.subject} and {count(names)} more" if names else first.subject
        if times:
            subject = f"{subject}, {count(times + 1)} times"
        gain = sum(each.gain for each in (first, *others))
        yield subjects, replace(_for_all(first, others), subject=subject, gain=gain)


def _for_all(first: Advice, others: Sequence[Advice]) -> Advice:
    """Its commands with the options for the other datasets of its file, too."""
    same = [each for each in others if each.source == first.source]
    code, risk = first.code, first.risk
    for place, option in enumerate(first.options):
        every = dict.fromkeys(each.options[place] for each in (first, *same))
        text = " ".join(list(every)[:_OPTIONS])
        code, risk = code.replace(option, text), risk.replace(option, text)
    return replace(first, code=code, risk=risk)


def _given(run: Run) -> Iterator[list[Advice]]:
    """What rules say of each process, and of the run."""
    sums = any(is_summed(seat) for seat in run.trace.seats)

    def speaks(rule: object) -> bool:
        return not sums or rule in _OF_SUMS

    for seat in run.trace.seats:
        mine = [data for data in run.datasets if data.seat is seat]
        told = [rule(data) for data in mine for rule in _OF_DATASETS if speaks(rule)]
        of_process = [each for rule in _OF_PROCESSES if speaks(rule) for each in rule(seat)]
        yield [*filter(None, told), *of_process]
    for of_run in _OF_RUNS:
        if speaks(of_run):
            yield list(of_run(run))
