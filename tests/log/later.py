"""A file whose log outlives the program: canonicalise=later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from log_layer import Log

LATER = "canonicalise=later;"
WRITE = """
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 1000), "i4", chunks={chunks}, fillvalue=-1)
    e = f.create_group("g").create_dataset("e", (40, 40), "f8")
    for k in range(0, 1000, 2):
        d[:, k] = np.arange(100) + k
    e[::3, ::2] = 2.5
    d[5:9, ::3] = 7
    {end}
"""
EXPECTED = """
    d = np.full((100, 1000), -1)
    d[:, ::2] = np.arange(100)[:, None] + np.arange(0, 1000, 2)
    d[5:9, ::3] = 7
    e = np.zeros((40, 40))
    e[::3, ::2] = 2.5
"""
SAME = "assert (f['d'][...] == d).all() and (f['g/e'][...] == e).all()"
CHUNKS = [None, (10, 100)]


def write(layer: Log, chunks: tuple[int, int] | None = None, end: str = "f.close()") -> None:
    layer.python(WRITE.format(chunks=chunks, end=end), LATER)
    assert "_exit" in end or layer.counted("writes_logged") >= 502
