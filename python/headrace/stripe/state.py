"""The state of a set, which HDF5's subfiling does not know (docs/formats/stripe.md)."""

from __future__ import annotations

import os
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN: Final = re.compile(rb"headrace_stripe=1\n((?:node=[^\n]+\n)*)")
_REST: Final = re.compile(
    rb"state=(?:open\nend\n.*|closed\nsize=(\d{1,19})\n((?:crc32=[0-9a-f]{8}\n)*)end\n)", re.DOTALL
)
_PART: Final = 1 << 20


@dataclass(frozen=True)
class SetState:
    """What is known of a set.

    Attributes:
        closed: False while somebody has the file open for writing.
        size: Of the file when it was closed, in bytes.
        checksums: CRC-32 of each subfile then, or none.
        nodes: Whose own the subfiles are, by turns; none where all nodes reach all of them.
    """

    closed: bool
    size: int = 0
    checksums: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()


def state_path(config: Path) -> Path:
    """Of the set with that configuration."""
    return config.with_suffix(".state")


def read_state(config: Path) -> SetState | None:
    """None where there is none, or a damaged one: the set is as one without a state then."""
    try:
        text = state_path(config).read_bytes()
    except OSError:
        return None
    if (begin := _BEGIN.match(text)) is None:
        return None
    nodes = tuple(os.fsdecode(line[5:]) for line in begin[1].splitlines())
    if (rest := _REST.fullmatch(text, begin.end())) is None and not nodes:
        return None
    if rest is None or rest[1] is None:
        return SetState(closed=False, nodes=nodes)
    sums = tuple(int(each, 16) for each in re.findall(rb"=([0-9a-f]{8})\n", rest[2]))
    return SetState(closed=True, size=int(rest[1]), checksums=sums, nodes=nodes)


def write_state(config: Path, state: SetState) -> None:
    """Raises OSError."""
    lines = ["headrace_stripe=1", *(f"node={each}" for each in state.nodes)]
    lines.append(f"state={'closed' if state.closed else 'open'}")
    if state.closed:
        lines.append(f"size={state.size}")
    lines += [f"crc32={each:08x}" for each in state.checksums]
    state_path(config).write_text("\n".join([*lines, "end"]) + "\n", encoding="ascii")


def checksum_of(path: Path) -> int:
    """CRC-32 of a file. Raises OSError."""
    total = 0
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        while part := file.read(_PART):
            total = zlib.crc32(part, total)
    return total
