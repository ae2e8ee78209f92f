"""Writes past the page cache leave the file that others leave."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

if TYPE_CHECKING:
    from harness.layer import Layer


def flags(descriptor: str) -> int:
    try:
        return int(Path(f"/proc/self/fdinfo/{descriptor}").read_text().split()[3], 8)
    except OSError:
        return 0


def direct_descriptors() -> list[str]:
    """That this process has open past the page cache."""
    return [one.name for one in Path("/proc/self/fd").iterdir() if flags(one.name) & os.O_DIRECT]


def write_pages_and_parts_of_them(expected: bool) -> None:
    """Overwritten, grown and cut off; another reader sees each flush."""
    random = np.random.default_rng(1)
    a = np.zeros(3_000_000, "i4")
    with h5py.File("x.h5", "w", userblock_size=512) as f:
        assert len(direct_descriptors()) == 1 or not expected
        d = f.create_dataset("d", data=a)
        place = d.id.get_offset()
        for i in range(1, 100):
            at, size = random.integers(len(a)), random.integers(1 << random.integers(20))
            a[at : at + size] = i
            d[at : at + size] = a[at : at + size]
            if i % 20 == 0:
                f[f"more/{i}"] = np.full(100_000, i)
                f.flush()
                with Path("x.h5").open("rb") as other:
                    other.seek(place)
                    assert (np.frombuffer(other.read(a.nbytes), "i4") == a).all()
        del f["more/80"]
    assert not direct_descriptors()
    np.save("a.npy", a)


def require_written() -> None:
    with h5py.File("x.h5") as f:
        assert (f["d"][:] == np.load("a.npy")).all()
        for i in (20, 40, 60):
            assert (f[f"more/{i}"][:] == i).all()
        assert "80" not in f["more"]


@pytest.mark.parametrize("options", ["", "budget=1MiB;flush_interval=1ms;"])
def test_the_file_is_the_same(layer: Layer, options: str) -> None:
    layer.python(partial(write_pages_and_parts_of_them, True), f"direct=true;{options}")
    layer.plain(require_written)


def test_where_the_file_system_refuses(layer: Layer) -> None:
    """Or where it pretends, as newer tmpfs does."""
    memory = Path("/dev/shm") / layer.folder.name  # noqa: S108
    memory.mkdir()
    try:
        (layer.folder / "x.h5").symlink_to(memory / "x.h5")
        layer.python(partial(write_pages_and_parts_of_them, False), "direct=true;")
        layer.plain(require_written)
    finally:
        shutil.rmtree(memory)
