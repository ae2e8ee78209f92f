"""Logs whose checksums are right and whose index says what no writer says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from log_layer import Log

WRITE = """
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("other", (30, 30), "f8")
        d = f.create_dataset("d", (20, 40), "i4", chunks={chunks})
        for k in range(20):
            d[k, ::2] = k
        d[::3, 1::4] = 7
"""
# The index with one byte changed, and the checksums that go with it.
CHANGE = """
    import shutil, struct, zlib
    from pathlib import Path
    log = next(Path("x.h5.headrace").iterdir())
    whole = log.read_bytes()
    file = Path("x.h5").read_bytes()
    header = struct.Struct("<4sIQQII")
    at = 0
    while True:
        magic, kind, number, size, _, _ = header.unpack_from(whole, at)
        if kind == 2:
            break
        at += 32 + size
    refused = used = 0
    for place in range(size):
        for change in (1, 64, 128, 255):
            index = bytearray(whole[at + 32:at + 32 + size])
            index[place] ^= change
            head = struct.pack("<4sIQQI", magic, kind, number, size, zlib.crc32(index))
            head += struct.pack("<I", zlib.crc32(head))
            for mode in ("r", "r+"):
                log.parent.mkdir(exist_ok=True)
                log.write_bytes(whole[:at] + head + index + whole[at + 32 + size:])
                Path("x.h5").write_bytes(file)
                try:
                    with h5py.File("x.h5", mode) as f:
                        f["d"][...], f["other"][...]
                    used += 1
                except OSError as error:
                    assert mode == "r" or log.exists(), "what was refused is still there"
                    refused += 1
    print(refused, used)
"""


@pytest.mark.parametrize("chunks", [None, (7, 9)])
def test_any_index_is_used_or_refused(layer: Log, chunks: tuple[int, int] | None) -> None:
    layer.python(WRITE.format(chunks=chunks), "canonicalise=later;")
    done = layer.python(CHANGE, limit=300)
    refused, used = map(int, done.out.split())
    assert refused > 0.2 * used, done.text
