"""Programs with h5py: those that the rules are for, and those that they are not for.

`N` is how often something is done. Chunks of 2 MB, five in a row: together they are larger than the
cache that HDF5 2.x has for a dataset.
"""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = """
import h5py, netCDF4, numpy as np
rng = np.random.default_rng(5)
N = {count}
"""
_COMPRESSED = """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=rng.random((500, 5000)).round(2), chunks=(250, 1000),
                     compression="gzip", compression_opts=1)
    f.create_dataset("e", (500, 5000), "f8")
"""
_FILL = "tune(seat=both)"
_NFS = "model(mode=delay,preset=nfs)"
_SMALL = """
with h5py.File("y.h5", "w") as f:
    for i in range(N):
        d = f.create_dataset(f"d{i}", data=np.arange(10.0) + i)
        d.attrs["units"], d.attrs["n"] = "m/s", i
with h5py.File("y.h5") as f:
    for i in range(N):
        d = f[f"d{i}"]
        d[()], d.attrs["units"], d.attrs["n"]
"""


@dataclass(frozen=True)
class Program:
    """`gains`: the least ratio of native time that is promised; `bytes`: the most of its bytes.

    `stack` is compared with native HDF5, both over `storage`, a layer that stands for a slow one.
    """

    name: str
    count: int
    text: str
    make: str = ""
    gains: float = 0
    bytes: float = 0
    stack: str = "tune"
    storage: str = ""


PROGRAMS = (
    Program("rows-read", 200, """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        d[i]
""", _COMPRESSED, gains=50),
    Program("rows-written", 60, """
with h5py.File("y.h5", "w") as f:
    d = f.create_dataset("d", (250, 5000), "f8", chunks=(250, 1000), compression="gzip",
                         compression_opts=1)
    data = rng.random((N, 5000)).round(2)
    for i in range(N):
        d[i] = data[i]
""", gains=20),
    Program("columns-read", 30, """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        d[:, i]
        d[i]
""", _COMPRESSED, gains=5),
    Program("filled", 6000, """
data = rng.random(1000)
with h5py.File("y.h5", "w") as f:
    d = f.create_dataset("d", (N, 1000), "f8", fillvalue=1.0)
    for i in range(N):
        d[i] = data
""", bytes=0.55, stack=_FILL),
    Program("netcdf-steps", 200, """
data = rng.random(40000)
with netCDF4.Dataset("y.nc", "w") as f:
    f.createDimension("time", N); f.createDimension("x", 40000)
    v = f.createVariable("v", "f8", ("time", "x"), contiguous=True)
    for i in range(N):
        v[i] = data
""", bytes=0.55, stack=_FILL),
    Program("rows-and-writes", 100, """
with h5py.File("x.h5", "r+") as f:
    d, e = f["d"], f["e"]
    for i in range(N):
        d[i]
        e[i] = 1.0
""", _COMPRESSED, gains=20),
    Program("opened-again", 3000, """
with h5py.File("x.h5") as f:
    for i in range(N):
        f["e"][i % 500, 0]
""", _COMPRESSED),
    Program("whole-chunks", 3, """
with h5py.File("x.h5") as f:
    for i in range(N):
        d = f["d"]
        for j in range(0, 5000, 1000):
            d[:250, j : j + 1000]
""", _COMPRESSED),
    Program("small-cached", 30000, """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        d[i % 250, 3]
""", _COMPRESSED),
    Program("beyond-memory", 8, """
with h5py.File("z.h5") as f:
    d = f["d"]
    for i in range(N):
        d[i]
""", """
with h5py.File("z.h5", "w") as f:
    d = f.create_dataset("d", (250, 40000), "f8", chunks=(250, 1000), compression="gzip",
                         compression_opts=1)
    d[...] = np.broadcast_to(rng.integers(0, 9, 40000), d.shape)
"""),
    Program("tiny-datasets", 3000, """
with h5py.File("y.h5", "w") as f:
    for i in range(N):
        f[f"d{i}"] = i
with h5py.File("y.h5") as f:
    for i in range(N):
        f[f"d{i}"][()]
"""),
    Program("small-datasets-nfs", 2000, _SMALL, gains=1.3, stack="tune,async", storage=_NFS),
    Program("small-datasets-nfs-consent", 2000, _SMALL, gains=3, storage=_NFS,
            stack="tune(allow=layout,page=64KiB,page_buffer=4MiB)"),
    Program("sequential", 3000, """
data = rng.random(10000)
with h5py.File("y.h5", "w") as f:
    d = f.create_dataset("d", (N, 10000), "f8")
    for i in range(N):
        d[i] = data
"""),
)  # fmt: skip


def text(source: str, count: int) -> str:
    """What is run."""
    return _HEAD.format(count=count) + source
