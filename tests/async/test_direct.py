"""Writes past the page cache leave the file that others leave."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from async_layer import Async

# Whole pages and parts of them, overwritten, grown and cut off; another reader sees each flush.
PROGRAM = """
    import os, h5py, numpy as np
    def flags(fd):
        try:
            return int(open(f"/proc/self/fdinfo/{fd}").read().split()[3], 8)
        except OSError:
            return 0
    def direct():
        return [fd for fd in os.listdir("/proc/self/fd") if flags(fd) & os.O_DIRECT]
    random = np.random.default_rng(1)
    a = np.zeros(3_000_000, "i4")
    with h5py.File("x.h5", "w", userblock_size=512) as f:
        assert len(direct()) == 1 or not EXPECTED
        d = f.create_dataset("d", data=a)
        place = d.id.get_offset()
        for i in range(1, 100):
            at, size = random.integers(len(a)), random.integers(1 << random.integers(20))
            a[at:at + size] = i
            d[at:at + size] = a[at:at + size]
            if i % 20 == 0:
                f[f"more/{i}"] = np.full(100_000, i)
                f.flush()
                with open("x.h5", "rb") as other:
                    other.seek(place)
                    assert (np.frombuffer(other.read(a.nbytes), "i4") == a).all()
        del f["more/80"]
    assert not direct()
    np.save("a.npy", a)
"""
CHECK = """
    with h5py.File("x.h5") as f:
        print((f["d"][:] == np.load("a.npy")).all(),
              all((f[f"more/{i}"][:] == i).all() for i in (20, 40, 60)), "80" in f["more"])
"""


@pytest.mark.parametrize("options", ["", "budget=1MiB;flush_interval=1ms;"])
def test_the_file_is_the_same(layer: Async, options: str) -> None:
    layer.python(PROGRAM.replace("EXPECTED", "True"), f"direct=true;{options}")
    assert layer.plain(CHECK) == "True True False"


def test_where_the_file_system_refuses(layer: Async) -> None:
    """Or where it pretends, as newer tmpfs does."""
    memory = Path("/dev/shm") / layer.folder.name  # noqa: S108
    memory.mkdir()
    try:
        (layer.folder / "x.h5").symlink_to(memory / "x.h5")
        layer.python(PROGRAM.replace("EXPECTED", "False"), "direct=true;")
        assert layer.plain(CHECK) == "True True False"
    finally:
        shutil.rmtree(memory)
