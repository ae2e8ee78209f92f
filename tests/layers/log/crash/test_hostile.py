"""Logs whose checksums are right and whose index says what no writer says."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import pytest

if TYPE_CHECKING:
    from harness.layer import Layer


def write(chunks: tuple[int, int] | None) -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("other", (30, 30), "f8")
        d = f.create_dataset("d", (20, 40), "i4", chunks=chunks)
        for k in range(20):
            d[k, ::2] = k
        d[::3, 1::4] = 7


def index_of(whole: bytes) -> tuple[int, int]:
    """Where the header of the index begins in a log, and how long what follows it is."""
    at = 0
    while True:
        _, kind, _, size, _, _ = struct.unpack_from("<4sIQQII", whole, at)
        if kind == 2:
            return at, size
        at += 32 + size


def changed(whole: bytes, place: int, change: int) -> bytes:
    """A log with one byte of its index changed, and the checksums that go with it."""
    at, size = index_of(whole)
    index = bytearray(whole[at + 32 : at + 32 + size])
    index[place] ^= change
    head = whole[at : at + 24] + struct.pack("<I", zlib.crc32(index))
    head += struct.pack("<I", zlib.crc32(head))
    return whole[:at] + head + index + whole[at + 32 + size :]


def is_used(mode: str) -> bool:
    try:
        with h5py.File("x.h5", mode) as f:
            f["d"][...], f["other"][...]
    except OSError:
        return False
    return True


def read_with_every_index() -> None:
    log = next(Path("x.h5.headrace").iterdir())
    whole = log.read_bytes()
    file = Path("x.h5").read_bytes()
    refused = used = 0
    for place in range(index_of(whole)[1]):
        for change in (1, 64, 128, 255):
            for mode in ("r", "r+"):
                log.parent.mkdir(exist_ok=True)
                log.write_bytes(changed(whole, place, change))
                Path("x.h5").write_bytes(file)
                if is_used(mode):
                    used += 1
                else:
                    assert mode == "r" or log.exists(), "what was refused is still there"
                    refused += 1
    print(refused, used)


@pytest.mark.parametrize("chunks", [None, (7, 9)])
def test_any_index_is_used_or_refused(layer: Layer, chunks: tuple[int, int] | None) -> None:
    layer.python(partial(write, chunks), "canonicalise=later;")
    done = layer.python(read_with_every_index, limit=300)
    refused, used = map(int, done.out.split())
    assert refused > 0.2 * used, done.text
