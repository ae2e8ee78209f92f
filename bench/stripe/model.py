"""What pieces gain on modelled file systems, by how many there are and how large their stripes.

python bench/stripe/model.py [--output FOLDER]

Ranks write a part of a dataset each, as IOR does: large blocks one after the other (segmented), or
by turns pieces that do not end where stripes of the file system do (strided). The requests that one
shared file, the layer's subfiles, and subfiles behind a concentrator each, as of HDF5's own
subfiling, would make are worked out from the layout, for as many ranks as share one row of
stripes, and played by `headrace-model` as more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from bench.common import session
from bench.stripe import page

from headrace.plugins import library_dir
from headrace.stripe.configuration import Layout
from headrace.trace.views.export.model import HEADER, RECORD

MIB = 1 << 20
PLAYED = 64  # ranks whose requests are worked out; they fill whole rows of stripes
BLOCK = 64 * MIB  # of a rank
RANKS = (64, 1024, 4096)
SHARED, DIRECT, CONCENTRATED = "one shared file", "subfiles", "subfiles, a concentrator each"
_NAME = "f.h5"
_WRITE, _RAW = 1, 3
_UNIX = 1_700_000_000 * 10**9  # any time


@dataclass(frozen=True)
class Storage:
    """A file system: a preset with what differs from it, and over how many servers a file lies.

    `wide`: the most that a user can ask for, where the default is `usual`; 0 is all.
    """

    name: str
    preset: str
    servers: int
    usual: int
    wide: int
    words: Sequence[str] = ()


STORAGES = (
    Storage("lustre-4", "lustre-4", 4, 1, 4),
    Storage("lustre-48", "lustre-48", 48, 1, 48),
    Storage("lustre-160", "lustre-160", 160, 1, 160),
    # Assumed, like GPFS on a large machine: each file on all servers, in blocks of 16 MiB, a token
    # for each block.
    Storage("GPFS-like", "none", 154, 154, 154,
            ("--servers", "154", "--stripe-size", "16MiB", "--latency", "500us", "--bandwidth",
             "15GiB", "--client-bandwidth", "2GiB", "--revocation", "3ms")),
)  # fmt: skip


@dataclass(frozen=True)
class Pattern:
    """`piece`: bytes of a transfer; `apart`: whether those of all ranks follow each other."""

    name: str
    piece: int
    apart: bool


PATTERNS = (
    Pattern("segmented, 16 MiB", 16 * MIB, apart=False),
    Pattern("strided, 1 000 000 B", 1_000_000, apart=True),
)


@dataclass(frozen=True)
class Played:
    """`rate`: of what all servers move."""

    storage: str
    pattern: str
    ranks: int
    way: str
    targets: int  # of each file
    layout: Layout
    seconds: float
    rate: float


def requests(pattern: Pattern) -> Iterator[tuple[int, int, int]]:
    """Rank, offset and length of each transfer, of each rank in its order."""
    turns = BLOCK // pattern.piece
    for rank in range(PLAYED):
        for turn in range(turns):
            place = turn * PLAYED + rank if pattern.apart else rank * turns + turn
            yield rank, place * pattern.piece, pattern.piece


def in_pieces(layout: Layout, offset: int, length: int) -> Iterator[tuple[int, int, int]]:
    """Subfile, offset in it and length of each stripe that a transfer touches."""
    while length:
        stripe, inside = divmod(offset, layout.stripe)
        row, number = divmod(stripe, layout.count)
        size = min(length, layout.stripe - inside)
        yield number, row * layout.stripe + inside, size
        offset, length = offset + size, length - size


def ledgers(
    way: str, pattern: Pattern, layout: Layout, ranks: int, folder: Path
) -> tuple[list[Path], int]:
    """Of each client and file, and by how many clients they are to be played."""
    made: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    if way == CONCENTRATED:  # each writes whole stripes, whoever they are from
        for at in range(0, ranks * (BLOCK // pattern.piece) * pattern.piece, layout.stripe):
            ((number, offset, length),) = in_pieces(layout, at, layout.stripe)
            made[number, number].append((offset, length, at))
    else:
        for time, (rank, begin, whole) in enumerate(requests(pattern)):
            for number, offset, length in in_pieces(layout, begin, whole):
                made[rank, number].append((offset, length, time))
    files = [_write(folder / f"{client}.{number}.ledger", client, number, rows)
             for (client, number), rows in made.items()]  # fmt: skip
    return files, layout.count if way == CONCENTRATED else ranks


def _write(path: Path, client: int, number: int, rows: Sequence[tuple[int, int, int]]) -> Path:
    records = np.zeros(len(rows), RECORD)
    offsets, lengths, times = np.array(rows, np.uint64).T
    records["offset"], records["begin"] = offsets, times
    records["length"] = records["span"] = lengths
    records["call"] = np.arange(1, len(rows) + 1)
    records["kind"], records["type"] = _WRITE, _RAW
    name, host = f"{number:04}-{_NAME}".encode(), b"node"
    header = np.zeros(1, HEADER)
    header["magic"], header["version"], header["record"] = b"HRLEDGER", 1, RECORD.itemsize
    header["records"], header["pid"], header["rank"] = len(records), client + 1, client
    header["ranks"], header["opened"] = PLAYED, _UNIX
    header["name"], header["host"] = len(name), len(host)
    path.write_bytes(header.tobytes() + name + host + records.tobytes())
    return path


def play(storage: Storage, targets: int, files: Sequence[Path], clients: int) -> dict[str, Any]:
    """Raises CalledProcessError."""
    program = library_dir().parent / "bin/headrace-model"
    out = files[0].with_name("result.json")
    subprocess.run(
        [program, "replay", *files, "--preset", storage.preset, *storage.words, "--stripe-count",
         str(targets), "--ranks", str(clients), "--json", out],
        check=True, capture_output=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))["results"][0]
    return found


def counts_of(storage: Storage) -> list[int]:
    """Of subfiles; powers of two, so that the ranks fill whole rows."""
    return [n for n in (2, 4, 16, 64, 128) if n <= 4 * storage.servers]


def ways(storage: Storage) -> Iterator[tuple[str, int, Layout]]:
    """With the targets of each file."""
    whole = Layout(1 << 40, 1)
    yield SHARED, storage.usual, whole
    if storage.wide != storage.usual:
        yield SHARED, storage.wide, whole
    for count in counts_of(storage):
        for stripe in (1 * MIB, 4 * MIB, 32 * MIB):
            yield DIRECT, storage.usual, Layout(stripe, count)
    for count in counts_of(storage):
        yield CONCENTRATED, storage.usual, Layout(32 * MIB, count)


def measured() -> Iterator[Played]:
    for storage in STORAGES:
        for pattern in PATTERNS:
            for way, targets, layout in ways(storage):
                if layout.count * layout.stripe > PLAYED * BLOCK and way != SHARED:
                    continue  # the ranks would not fill a row
                for ranks in RANKS:
                    with tempfile.TemporaryDirectory() as name:
                        files, clients = ledgers(way, pattern, layout, ranks, Path(name))
                        told = play(storage, targets, files, clients)
                    yield Played(storage.name, pattern.name, ranks, way, targets, layout,
                                 told["seconds"], told["efficiency"])  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="folder of the page and all figures")
    given = parser.parse_args()
    found = list(measured())
    text = page.model(found)
    print(text)
    if given.output is not None:
        about = session.describe(session.ROOT / "build")
        whole = {"machine": about, "played": [asdict(each) for each in found]}
        session.write_results(given.output, whole, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
