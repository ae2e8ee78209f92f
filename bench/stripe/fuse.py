"""Times of making a set one file, and of copying that file."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from bench.common.evidence import RunError

from headrace.stripe.configuration import Layout
from headrace.stripe.fuse import fuse, split
from headrace.stripe.sets import StripedSet

_SIZE = 256 << 20
_COUNT = 2


def make(folder: Path, stripe: int) -> StripedSet:
    """A set of 256 MiB in two pieces, beside the file that it was made of."""
    whole = folder / "whole.h5"
    with whole.open("wb") as out:
        for _ in range(_SIZE >> 20):
            out.write(os.urandom(1 << 20))
    return split(whole, folder / "set.h5", Layout(stripe, _COUNT), [], lambda _: None)


def fused(found: StripedSet, folder: Path) -> dict[str, Any]:
    """By the command's own work; raises RunError if another file comes out."""
    output = folder / "fused.h5"
    begin = time.perf_counter()
    fuse(found, output, lambda _: None, verify=False)
    took = time.perf_counter() - begin
    same = output.read_bytes() == (folder / "whole.h5").read_bytes()
    output.unlink()
    if not same:
        raise RunError("the fused file is not the one that was split")
    return {"write_wall": took}


def copied(folder: Path) -> dict[str, Any]:
    """The whole file by copy_file_range, and on the disk, as the command leaves its own."""
    output = folder / "copied.h5"
    begin = time.perf_counter()
    with (folder / "whole.h5").open("rb") as source, output.open("wb") as target:
        left = _SIZE
        while left > 0:
            left -= os.copy_file_range(source.fileno(), target.fileno(), left)
        os.fsync(target.fileno())
    took = time.perf_counter() - begin
    output.unlink()
    return {"write_wall": took}
