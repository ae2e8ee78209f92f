"""What the trace tells, in sentences: for who reads nothing else."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace import units
from headrace.trace.analysis.summary import reason
from headrace.trace.model.seats import READ
from headrace.trace.views.report import kinds, tables, words
from headrace.trace.views.report.datasets import Owned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headrace.trace.analysis.summary import Totals, Use
    from headrace.trace.model.seats import Seat

_NOTED: Final = 4  # objects that have a sentence
_SHARE: Final = 0.03  # of the time, from which on an object is worth one
_AMPLIFIED: Final = 2.0
_MUCH: Final = 1 << 20  # bytes at the storage, from which on amplification is worth a sentence
_MANY: Final = 100
_UNEVEN: Final = 1.5


def sentences(
    seats: Sequence[Seat], sums: Totals, uses: Sequence[Use], links: Mapping[tuple[str, str], str]
) -> Iterator[dict[str, str]]:
    """Texts, some with a link to the dataset that they are about and its name."""
    if not sums.calls and not sums.requests:
        yield {"text": "The program made no calls of HDF5 that were recorded."}
        return
    yield {"text": _waited(sums)}
    yield {"text": _for_what(seats, sums)}
    yield {"text": _moved(sums)}
    for use in uses[:_NOTED]:
        if use.seconds > _SHARE * sums.inside:
            part = words.share(use.seconds, sums.inside)
            yield {
                "text": f"took {units.seconds(use.seconds)}, {part} of it: {reason(use)}.",
                "name": _name(use, sums),
                "link": links.get((use.file, use.path), ""),
            }
    yield from _cautions(seats, uses, links, sums)


def _waited(sums: Totals) -> str:
    inside = units.seconds(sums.inside)
    span = units.seconds(sums.span)
    files = words.number_of(sums.files, "file")
    if sums.processes > 1:
        mean = sums.inside / sums.processes
        return (
            f"{words.number_of(sums.processes, 'process', 'processes')} waited for {files} for "
            f"{inside} in all: on average for {units.seconds(mean)}, "
            f"{words.share(mean, sums.span)} of the {span} from the first call of HDF5 to the "
            f"end of the last."
        )
    part = words.share(sums.inside, sums.span)
    return (
        f"The program waited for {files} for {inside}: {part} of the {span} from its first "
        f"call of HDF5 to the end of the last."
    )


def _for_what(seats: Sequence[Seat], sums: Totals) -> str:
    spent: dict[str, dict[str, float]] = defaultdict(dict)
    for (kind, callback), (_, seconds, _) in kinds.sums(seats).items():
        spent[kind][callback] = seconds
    told = [
        f"{words.share(each, sums.inside)} {_named(kind, spent[kind])}"
        for each, kind in sorted(((sum(each.values()), kind) for kind, each in spent.items()),
                                 reverse=True)
        if sums.inside and each >= 0.005 * sums.inside
    ]  # fmt: skip
    return f"Of that time went: {', '.join(told)}." if told else "That took no time."


def _named(kind: str, callbacks: Mapping[str, float]) -> str:
    """Of what has no name of its own HDF5's names."""
    if kind != kinds.OTHER:
        return kind
    dearest = sorted(callbacks, key=lambda each: -callbacks[each])[:2]
    return f"{kind} ({', '.join(dearest)})"


def _moved(sums: Totals) -> str:
    who = "they" if sums.processes > 1 else "it"
    return (
        f"In {words.number_of(sums.calls, 'call')} {who} read {units.size(sums.read)} and wrote "
        f"{units.size(sums.written)}; {words.number_of(sums.requests, 'request')} to the storage "
        f"read {units.size(sums.stored_read)} and wrote {units.size(sums.stored_written)}."
    )


def _cautions(
    seats: Sequence[Seat],
    uses: Sequence[Use],
    links: Mapping[tuple[str, str], str],
    sums: Totals,
) -> Iterator[dict[str, str]]:
    for use in sorted(uses, key=lambda each: -each.stored_read)[:_NOTED]:
        much = use.stored_read >= _MUCH and use.stored_read > _SHARE * sums.stored_read
        if not much or not use.read or use.stored_read <= _AMPLIFIED * use.read:
            continue
        cause = _chunks(seats, use)
        if cause or use not in uses[:_NOTED]:  # whose sentence tells it already
            yield {
                "text": f"is read from the storage {_fold(use.stored_read / use.read)} as much as "
                f"the program asked for{cause}.",
                "name": _name(use, sums),
                "link": links.get((use.file, use.path), ""),
            }
    failed = sum(int((seat.calls["failed"] != 0).sum()) for seat in seats)
    if failed:
        yield {"text": f"{words.number_of(failed, 'call')} failed."}
    waited = [float(seat.own.sum()) for seat in seats]
    mean = sum(waited) / len(waited) if waited else 0
    if len(waited) > 1 and mean and max(waited) > _UNEVEN * mean:
        yield {"text": f"The processes waited unevenly: {tables.processes(seats)['text']}"}


def _chunks(seats: Sequence[Seat], use: Use) -> str:
    """That chunks are larger than what is read at a time, where they are."""
    read, largest, calls = 0, 0, 0
    for seat, ids in Owned(seats).of(use):
        rows = seat.are((READ,)) & np.isin(seat.calls["object"], ids)
        read += int(seat.calls["bytes"][rows].sum())
        calls += int(rows.sum())
        facts = [seat.process.datasets.get(id_, {}) for id_ in ids.tolist()]
        sizes = [words.product(each["chunk"]) * int(each["type"].get("size", 0))
                 for each in facts if each.get("chunk")]  # fmt: skip
        largest = max([largest, *sizes])
    if not calls or largest <= read / calls:
        return ""
    return (
        f": its chunks hold {units.size(largest)} each, and a read takes "
        f"{units.size(read / calls)} on average"
    )


def _fold(ratio: float) -> str:
    """6.4 times."""
    return f"{ratio:.1f} times" if ratio < 100 else f"{units.count(ratio)} times"


def _name(use: Use, sums: Totals) -> str:
    path = words.shortened(use.path) or "Calls on no object"
    return f"{words.shortened(use.file)}:{path}" if sums.files > 1 and use.file else path
