"""Programs for rules about many datasets, attributes and files, and programs near to them."""

from __future__ import annotations

from typing import Final

from .program import Program

_EVENTS = """
with h5py.File("x.h5", "w") as f:
    for i in range(N):
        g = f.create_group(f"event_{i:05}")
        d = g.create_dataset("trace", data=np.arange(20) + i)
        d.attrs["run"] = 7
        d.attrs["energy"] = 1.5 * i
with h5py.File("x.h5") as f:
    total = 0
    for name in f:
        d = f[name]["trace"]
        if d.attrs["energy"] > 100:
            total += d[0]
"""
_ROWS = """
with h5py.File("x.h5", "w") as f:
    f["trace"] = np.arange(20) + np.arange(N)[:, None]
    f["run"] = np.full(N, 7)
    f["energy"] = 1.5 * np.arange(N)
with h5py.File("x.h5") as f:
    traces = f["trace"][:, 0]
    total = sum(traces[i] for i, energy in enumerate(f["energy"][()]) if energy > 100)
"""
_LARGER = """
with h5py.File("x.h5", "w") as f:
    for i in range(N):
        f[f"d{i}"] = np.arange(1000)
"""
_OF_MANY_FILES = """
for i in range(100):
    with h5py.File(f"x{i}.h5", "w") as f:
        for name in "uvw":
            f[name] = i
"""
_READ_OFTEN = """
with h5py.File("x.h5", "w") as f:
    for i in range(200):
        d = f.create_dataset(f"d{i}", (10,), "f8")
        for j in range(10):
            d[j] = j
"""
_SCALES = """
with h5py.File("x.h5", "w") as f:
    for i in range(80):
        d = f.create_dataset(f"d{i}", (5,), "f8")
        d.make_scale("x")
        for name in ("units", "long_name", "standard_name"):
            d.attrs[name] = "m"
"""
_ATTRIBUTES = """
with h5py.File("x.h5", "w") as f:
    for i in range(N):
        g = f.create_group(f"g{{i}}")
        {attributes}
"""
_APPENDED = """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", (0, 100), "f4", maxshape=(None, 100), chunks=(64, 100),
                     compression="gzip")
{loop}        d.resize(i + 1, 0)
        d[i] = np.full(100, i)
"""
APPENDED: Final = _APPENDED.format(
    loop="""
for i in range(N):
    with h5py.File("x.h5", "a") as f:
        d = f["d"]
"""
)
_APPENDED_ONCE = _APPENDED.format(
    loop="""
with h5py.File("x.h5", "a") as f:
    d = f["d"]
    for i in range(N):
"""
)
_MADE_ANEW = """
for i in range(30):
    with h5py.File("x.h5", "w") as f:
        f["d"] = np.arange(1000)
"""
_OWN_FILES = """
for i in range(9):
    with h5py.File(f"part{i}.h5", "w") as f:
        f["a"] = np.arange(1000) + i
for r in range(5):
    for i in range(9):
        with h5py.File(f"part{i}.h5") as f:
            f["a"][:]
"""
_PER_FILE = """
for rank in range(N):
    with h5py.File(f"rank{rank}.h5", "w") as f:
        for name in "uvwxyz":
            f[name] = rng.random(100)
with h5py.File("all.h5", "w") as f:
    for name in "uvwxyz":
        f[name] = rng.random((N, 100))
"""
_READ_FILES = """
for rank in range(N):
    with h5py.File(f"rank{rank}.h5") as f:
        for name in "uvwxyz":
            assert f[name][()].any()
"""
_READ_ALL = """
with h5py.File("all.h5") as f:
    for name in "uvwxyz":
        d = f[name]
        for rank in range(N):
            assert d[rank].any()
"""
_DIFFERENT_FILES = """
for i in range(20):
    with h5py.File(f"rank{i}.h5") as f:
        assert f["uvwxyz"[i % 6]][()].any() and f["uvwxyz"[i // 6]][()].any()
"""

PROGRAMS: Final = (
    Program("tiny_datasets", 2000, 250, _EVENTS, _ROWS, variant="described",
            near=(_LARGER, _OF_MANY_FILES, _READ_OFTEN)),
    Program("tiny_attributes", 1500, 100,
            _ATTRIBUTES.format(attributes='for name in "abcdefgh": g.attrs[name] = i'),
            _ATTRIBUTES.format(attributes='g.attrs["all"] = np.full(8, i)'), near=(_SCALES,
            _ATTRIBUTES.format(attributes='g.attrs["all"] = np.full(8, i)'))),
    Program("files_again", 600, 40, APPENDED, _APPENDED_ONCE, variant="appended", says='"a"',
            near=(_MADE_ANEW, _OWN_FILES)),
    Program("files_alike", 200, 20, _READ_FILES, _READ_ALL, _PER_FILE,
            near=(_OWN_FILES, _READ_ALL, _MADE_ANEW)),
)  # fmt: skip
