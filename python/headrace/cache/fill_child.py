"""Reads an element of each chunk, so that the layer `cache` below decodes it for all processes.

python -m headrace.cache.fill_child PARENT FILE PART PARTS [DATASET]...: of these datasets, or of
all. With `-` and a dataset in their place it takes the chunks of the rows whose 64-bit numbers are
its standard input, a file, in their order. Of every PARTS chunks it takes one. It ends with the
process that has started it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator

import h5py
import numpy as np


def origins(dataset: h5py.Dataset, bands: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """The first element of each chunk in the given rows of chunks."""
    others = [
        range(0, length, chunk)
        for length, chunk in zip(dataset.shape[1:], dataset.chunks[1:], strict=True)
    ]
    for band in bands:
        yield from itertools.product([band * dataset.chunks[0]], *others)


def bands_of(dataset: h5py.Dataset, rows: np.ndarray | None) -> Iterable[int]:
    """All, or those that rows are in, in their order."""
    length = dataset.chunks[0]
    if rows is None:
        return range(-(-dataset.shape[0] // length))
    return dict.fromkeys((rows // length).tolist())


def can_be_kept(dataset: object) -> bool:
    """Whether the layer may keep chunks of it."""
    return isinstance(dataset, h5py.Dataset) and bool(dataset.chunks) and dataset.size > 0


def named(file: h5py.File, names: list[str]) -> list[h5py.Dataset]:
    """Those, or all of a file."""
    if names:
        return [file[name] for name in names]
    found: list[h5py.Dataset] = []
    file.visititems(lambda _, each: found.append(each) if isinstance(each, h5py.Dataset) else None)
    return found


def look_at(dataset: h5py.Dataset, origins: Iterable[tuple[int, ...]], parent: int) -> int:
    """How many chunks it were."""
    looked_at = 0
    for origin in origins:
        if os.getppid() != parent:
            sys.exit("the program has ended")
        dataset[origin]
        looked_at += 1
    return looked_at


def main(parent: int, path: str, part: int, parts: int, names: list[str]) -> None:
    """Writes how many chunks it has looked at."""
    rows = None
    if names[:1] == ["-"]:
        # By its place in the file: processes that share it share where they are in it, too.
        rows = np.frombuffer(os.pread(0, os.fstat(0).st_size, 0), np.int64)
        names = names[1:]
    looked_at = 0
    with h5py.File(path, "r") as file:
        for dataset in filter(can_be_kept, named(file, names)):
            mine = itertools.islice(origins(dataset, bands_of(dataset, rows)), part, None, parts)
            # One of many that h5py or its filters cannot read is the program's business.
            with contextlib.suppress(*([] if names else [OSError, TypeError])):
                looked_at += look_at(dataset, mine, parent)
    sys.stdout.write(f"{looked_at}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
