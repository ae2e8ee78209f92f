"""Programs for rules about chunks, and programs near to them."""

from __future__ import annotations

from typing import Final

from .program import Program

# A dataset that grows row by row: each chunk is encoded once, and most of the first is empty.
GROWING: Final = """
a = rng.normal(0, 100, (N, 64)).astype("i2")
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (1, 64), "i2", maxshape=(None, 64), chunks=(200, 64),
                         compression="gzip")
    for i in range(N):
        d.resize(i + 1, 0)
        d[i] = a[i]
"""
WHOLE_CHUNKS: Final = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (50, 200), "f8", chunks=(50, 200), compression="gzip")
    for i in range(20):
        d[...] = rng.random((50, 200)).round(1)
"""
ONE_OF_EACH_CHUNK: Final = """
with h5py.File("x.h5", "w", rdcc_nbytes=1000) as f:
    d = f.create_dataset("d", (100, 200), "f8", chunks=(1, 200), compression="gzip")
    for i in range(100):
        d[i, 5] = i
"""
# The next of a name is another dataset, in a file that is made anew and in one that stays open.
MADE_ANEW: Final = """
for i in range(10):
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=rng.random((40, 100)), chunks=(20, 100), compression="gzip")
with h5py.File("y.h5", "w") as f:
    for i in range(10):
        f.create_dataset("d", data=rng.random((40, 100)), chunks=(20, 100), compression="gzip")
        del f["d"]
"""
_TILES = """
with h5py.File("x.h5", "w") as f:
    data = rng.integers(0, 1000, (100, 64, 64)).astype("f4")
    f.create_dataset("d", data=data, chunks=(100, 32, 32), compression="gzip", compression_opts=1)
"""
_READ_TILES = """
with h5py.File("x.h5") as f:
    {before}
    for i in range(N):
        assert {dataset}[i % 100, :32, :32].any()
"""
_KEPT_OPEN = """
with h5py.File("x.h5", "w") as f:
    {before}f.create_dataset("d", (100, 1000), "f8", chunks=(100, 1000), compression="gzip",
                     compression_opts=1)
    for i in range(N):
        {dataset}[i % 100] = rng.random(1000).round(2)
"""
_STEPS = """
for name, length in (("x", 1), ("y", 500)):
    with h5py.File(f"{name}.h5", "w") as f:
        d = f.create_dataset("d", (N, 50), "f8", chunks=(length, 50)COMPRESSED)
        d[...] = rng.random((N, 50)).round(2)
"""
_READ_STEPS = """
with h5py.File("{name}.h5") as f:
    assert f["d"][...].any()
"""
_READ_EACH = """
with h5py.File("{name}.h5") as f:
    d = f["d"]
    for i in {steps}:
        assert d[i].any()
"""
_WRITE_STEPS = """
data = rng.random((N, 50))
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", (N, 50), "f8", chunks=({length}, 50))[...] = data
"""
# A call for each step takes so long that larger chunks were measured to spare nothing.
_WRITE_EACH = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (N, 50), "f8", chunks=(1, 50))
    for i in range(N):
        d[i] = i
"""
_NETCDF = """
import netCDF4
for name, length in (("x", 1), ("y", 500)):
    with netCDF4.Dataset(f"{name}.nc", "w") as f:
        f.createDimension("time")
        f.createDimension("z", 50)
        f.createVariable("time", "f8", ("time",), chunksizes=(length,))[:] = np.arange(N)
        v = f.createVariable("v", "f8", ("time", "z"), chunksizes=(length, 50))
        v[:] = np.ones((N, 50))
"""
_READ_NETCDF = """
import netCDF4
with netCDF4.Dataset("{name}.nc") as f:
    assert f["v"][:].any() and f["time"][:].any()
"""
_RANDOM_STEPS = _READ_EACH.format(name="x", steps="rng.permutation(N)[:1000]")

PROGRAMS: Final = (
    Program("cache_too_small", 400, 20, _READ_TILES.format(before="", dataset='f["d"]'),
            _READ_TILES.format(before='d = f["d"]', dataset="d"), _TILES, variant="opened",
            says="Open the dataset once", not_said="rdcc_nbytes",
            near=(_READ_TILES.format(before='d = f["d"]', dataset="d"), GROWING, MADE_ANEW)),
    Program("rewritten_in_parts", 40, 8, _KEPT_OPEN.format(before="", dataset='f["d"]'),
            _KEPT_OPEN.format(before="d = ", dataset="d"), variant="closed",
            says="keep the dataset open", not_said="rdcc_nbytes",
            near=(GROWING, WHOLE_CHUNKS, ONE_OF_EACH_CHUNK, MADE_ANEW)),
    Program("tiny_chunks", 40000, 2000, _READ_STEPS.format(name="x"),
            _READ_STEPS.format(name="y"), _STEPS.replace("COMPRESSED", ""),
            says="h5repack -l /d:CHUNK=", near=(_READ_STEPS.format(name="y"), _RANDOM_STEPS)),
    Program("tiny_chunks", 40000, 2000, _READ_STEPS.format(name="x"),
            _READ_STEPS.format(name="y"), _STEPS.replace("COMPRESSED", ', compression="gzip"'),
            variant="encoded", near=_READ_STEPS.format(name="y")),
    Program("tiny_chunks", 20000, 2000, _READ_EACH.format(name="x", steps="range(N)"),
            _READ_EACH.format(name="y", steps="range(N)"), _STEPS.replace("COMPRESSED", ""),
            variant="each", near=_READ_EACH.format(name="x", steps="range(100)")),
    Program("tiny_chunks", 40000, 2000, _WRITE_STEPS.format(length=1),
            _WRITE_STEPS.format(length=500), variant="written", says="chunks=(",
            near=(_WRITE_STEPS.format(length=500), _WRITE_EACH)),
    Program("tiny_chunks", 20000, 2000, _READ_NETCDF.format(name="x"),
            _READ_NETCDF.format(name="y"), _NETCDF, variant="netcdf", says="nccopy -c v:",
            near=_READ_NETCDF.format(name="y")),
)  # fmt: skip
