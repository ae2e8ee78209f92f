"""What the model of a file system says of vol-cache's two published cases, on Theta.

`python -m bench.cache.scale [--output FILE]`. Nothing here is measured on so many ranks.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench.log import ledgers
from bench.log.ledgers import READ, WRITE, Records
from bench.log.scale import replay

RANKS = (32, 320, 3200, 10_240, 16_384)
NODE = 32  # ranks of a node
SAMPLE, BATCH = 224 * 224 * 3, 32
SAMPLES = 100_000  # in the file
WRITTEN = 16 << 20  # bytes of a rank
# Lustre of 48 targets, in stripes of 16 MiB; one NVMe drive a node.
SHARED = ("--preset", "lustre-48", "--stripe-size", "16MiB")
LOCAL = ("--preset", "local-nvme")
# What a core copies out of shared memory, with all that h5py does: later epochs of one sample a
# chunk in bench/results/2026-11-30-cache, 37 MiB in 14 ms on two cores.
COPIED = 1.4e9
TEXT = f"""# vol-cache's published cases, modelled

Seconds on [modelled](../../../docs/guide/model.md) storage, not measured. Assumed beside what the
model assumes: {NODE} ranks a node; the shared file on Lustre's 48 targets in stripes of 16 MiB,
without any cache of the system; a node's NVMe drive takes the ranks' logs together, and nodes do
not disturb each other; a rank copies {COPIED / 1e9} GB/s out of memory that its node shares, with
all that h5py does; the file's chunks are decoded and kept by then (from the second epoch on).
Writes are {WRITTEN >> 20} MiB a rank, and return when the node's log has them; that they come to
the file behind the program takes as long as the native write. vol-cache's paper has about 25 times
for collective writes on 512 nodes.

| ranks | {BATCH} samples natively | `cache` | ratio | written natively | to the node | ratio |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass
class Point:
    """Seconds of so many ranks: natively, and ours."""

    ranks: int
    read: float
    cached: float
    written: float
    staged: float

    def row(self) -> str:
        """Of the table."""
        seconds = (self.read, self.cached, self.written, self.staged)
        read, cached, written, staged = (f"{each:.3g} s" for each in seconds)
        reading, writing = self.read / self.cached, self.written / self.staged
        return (
            f"| {self.ranks} | {read} | {cached} | {reading:.1f} "
            f"| {written} | {staged} | {writing:.1f} |"
        )


def batch(rank: int) -> Records:
    """Samples at random in one file."""
    order = np.random.default_rng(rank).permutation(SAMPLES)[:BATCH]
    return ledgers.made(READ, [(int(i) * SAMPLE, SAMPLE) for i in order])


def point(ranks: int, folder: Path) -> Point:
    """Of so many, in a folder that is there. Raises RunError."""
    work = folder / "work"
    reads = [("samples", rank, batch(rank)) for rank in range(NODE)]
    write = [("checkpoint", 0, ledgers.made(WRITE, [(0, WRITTEN)]))]
    return Point(
        ranks,
        read=replay(reads, work, ranks, [*SHARED, "--placement", "append"]),
        cached=BATCH * SAMPLE / COPIED,
        written=replay(write, work, ranks, SHARED),
        staged=replay(write, work, NODE, LOCAL),
    )


def main(words: Sequence[str] | None = None) -> None:
    """Prints the page, or writes it into a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        rows = [point(ranks, Path(folder)).row() for ranks in given.ranks]
    text = TEXT + "\n".join(rows) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
