"""What a power cut may leave of a file: a second, independent statement of docs/guide/fault.md.

A change is ("write", offset, bytes) or ("resize", size).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

SECTOR = 512
Change = tuple[Any, ...]


def made(content: bytes, change: Change) -> bytes:
    """The content after a change."""
    if change[0] == "resize":
        size: int = change[1]
        return content[:size] + bytes(max(0, size - len(content)))
    offset: int = change[1]
    data: bytes = change[2]
    padded = content + bytes(max(0, offset - len(content)))
    return padded[:offset] + data + padded[offset + len(data) :]


def after(content: bytes, changes: Sequence[Change]) -> bytes:
    for change in changes:
        content = made(content, change)
    return content


def parts(change: Change) -> Iterator[Change]:
    """The write cut at each end of a sector inside it."""
    if change[0] == "write":
        _, offset, data = change
        for end in range(offset + 1, offset + len(data)):
            if end % SECTOR == 0:
                yield ("write", offset, data[: end - offset])


def states(content: bytes, changes: Sequence[Change], outcome: str) -> set[bytes]:
    """All contents that the outcome allows, `content` being that of the last sync point."""
    if outcome == "lost":
        return {content}
    if outcome == "torn":
        found = {after(content, changes)}
        for number, change in enumerate(changes):
            begin = after(content, changes[:number])
            torn = [made(begin, part) for part in parts(change)]
            found.update(torn or [begin])
        return found
    found = set()
    for number in range(len(changes) + 1):
        for some in combinations(changes, number):
            for order in permutations(some):
                ways = [
                    [change, *(parts(change) if outcome == "mixed" else ())] for change in order
                ]
                found.update(after(content, way) for way in product(*ways))
    return found
