"""For each rule of advice: a program that it is for, and the same after the advice was followed.

Programs are texts; `N` is their size. `make` is run natively before either, and not timed.
"""

from __future__ import annotations

from typing import Final

from . import chunked, many
from .program import DISK_5, DISK_20, DISK_100, FAR, STRIPED, Program, text

__all__ = ["OVER_MPI", "PROGRAMS", "Program", "text"]

_ROWS = """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=rng.random((2000, 1000)).round(2), chunks=(2000, 1000),
                     compression="gzip", compression_opts=1)
"""
_READ_ROWS = """
with h5py.File("x.h5"{cache}) as f:
    d = f["d"]
    for i in range(N):
        assert d[i * 7, :10].any()
"""
_WRITE_ROWS = """
with h5py.File("x.h5", "w"{cache}) as f:
    d = f.create_dataset("d", (2000, 1000), "f8", chunks=(2000, 1000), compression="gzip",
                         compression_opts=1)
    for i in range(N):
        d[i] = np.arange(1000.0)
"""
_SHAPED = """
data = rng.random((1500, 1500)).round(2)
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=data, chunks=(1500, 8), compression="gzip", compression_opts=1)
with h5py.File("y.h5", "w") as f:
    f.create_dataset("d", data=data, chunks=(16, 1500), compression="gzip", compression_opts=1)
"""
_READ_SHAPED = """
with h5py.File("{name}.h5") as f:
    d = f["d"]
    for i in range(N):
        assert d[i * 100].any()
"""
_FIELD = """
data = {data}
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=data{how})
"""
_RANDOM = "np.frombuffer(rng.bytes(N * 8000), np.int64).reshape(N, 1000)"
_SHORT = "rng.integers(0, 65536, (N, 1000), np.int32)"
_GZIP = ', chunks=(50, 1000), compression="gzip", compression_opts=1'
_STEPS = """
data = np.ones(1 << 20, np.int8)
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (N, 1 << 20), np.int8)
    for i in range(N):
        d[i] = data
        {compute}
"""
_BLOCK = """
with h5py.File("x.h5", "w") as f:
    f["d"] = rng.random((1000, 1000))
"""
_SAMPLES = """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=rng.integers(0, 9, (4 * N, 200_000), np.uint8),
                     chunks=(1, 200_000), compression="gzip")
"""
_LOADERS = '''
import subprocess, sys
loads = """
import h5py
with h5py.File("x.h5") as f:
    for i in range({{}}, {{}}):
        assert f["d"][i].any()
"""
firsts = [{first} for loader in range(4)]
words = [[sys.executable, "-c", loads.format(first, first + N)] for first in firsts]
for each in [subprocess.Popen(each) for each in words]:
    assert each.wait() == 0
'''
_RANKS = '''
import subprocess, sys
meet = """
import sys, h5py
sys.stdout.buffer.write(b"here")
sys.stdout.flush()
sys.stdin.buffer.readline()
"""
first = meet + """
with h5py.File("x.h5") as f:
    data = f["d"][()]
if {shares}:
    sys.stdout.buffer.write(data.tobytes())
"""
other = meet + "assert sys.stdin.buffer.read()"
words = [[sys.executable, "-c", first if rank == 0 or not {shares} else other] for rank in range(4)]
ranks = [subprocess.Popen(each, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for each in words]
for each in ranks:
    assert each.stdout.read(4) == b"here"
for each in ranks:
    each.stdin.write(b"\\n")
    each.stdin.flush()
told = ranks[0].communicate()[0]
for each in ranks[1:]:
    each.communicate(told if {shares} else None)
assert not any(each.returncode for each in ranks)
'''
_CHUNKS = """
data = np.ones((1024, 1024), np.int8)
with h5py.File("x.h5", "w"{how}) as f:
    d = f.create_dataset("d", (N, 1024, 1024), np.int8, chunks=(1, 1024, 1024))
    for i in range(N):
        d[i] = data
"""
_PAGES = """
for name, how in (("x", {}), ("y", dict(fs_strategy="page", fs_page_size=65536))):
    with h5py.File(f"{name}.h5", "w", **how) as f:
        for i in range(N):
            f[f"g{i}/d"] = i
"""
_READ_PAGES = """
with h5py.File("{name}.h5"{how}) as f:
    assert all(f[f"g{{i}}/d"].shape == () for i in range(N))
"""
_FILLED = """
data = rng.random((100, 1000))
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (N, 1000), "f8", fillvalue=1.0{how})
    for i in range(0, N, 100):
        d[i : i + 100] = data
"""
_TYPED = """
data = rng.random((N, 1000))
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", (N, 1000), "{how}")[...] = data
"""
_LINE = """
with h5py.File("x.h5", "w") as f:
    f["d"] = rng.random(1_000_000)
"""
_LISTS = """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        rows = np.sort(np.random.default_rng(i).choice(1_000_000, 10_000, replace=False))
        assert {how}.any()
"""
_FLUSHES = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (N, 1000), "f8", chunks=(100, 1000))
    for i in range(N):
        d[i] = np.arange(1000.0)
        {flush}
"""

_IN_ORDER = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (300, 20000), "f8")
    for i in range(N):
        d[i] = i
"""
_LOOKED_AT = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (2000, 10000), "f8")
    for i in range(N):
        d[:, i * 5] = i
        {look}
"""
_HERE_AND_THERE = """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.zeros(1 << 20)
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in rng.integers(0, 4000, 200):
        assert not d[i * 256]
"""
_EACH_ROW = """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(1000):
        assert d[i].any()
"""
_REFRESHED = """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        d.refresh()
        assert d[()].any()
"""
_ONE_AFTER_THE_OTHER = """
import subprocess, sys
for rank in range(3):
    subprocess.run([sys.executable, "-c", "import h5py; assert h5py.File('x.h5')['d'][()].any()"],
                   check=True)
"""
# Chunks at the edges of what grows are longer than what is written, and are written again for it.
_EDGES = """
with h5py.File("x.h5", "w") as f:
    v = f.create_dataset("v", (0, 10, 2), maxshape=(None, None, 2), chunks=(1, 4, 2), dtype="f8")
    for i in range(400):
        v.resize((i + 1, 10 + i % 7, 2))
        v[-1] = i
        v[0, -1] = -i
"""
_WRITTEN_TWICE = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (N, 1000), "f8", fillvalue=1.0, fill_time="never")
    for times in range(2):
        d[...] = times
"""
_FEW_NUMBERS = """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (500,), "f8")
    for i in range(500):
        d[i] = i
"""
_FOR_READERS = """
with h5py.File("x.h5", "w", libver="latest") as f:
    d = f.create_dataset("d", (N, 1000), "f8", chunks=(100, 1000))
    f.swmr_mode = True
    for i in range(N):
        d[i] = np.arange(1000.0)
        f.flush()
"""

PROGRAMS: Final = (
    *chunked.PROGRAMS, *many.PROGRAMS,
    Program("cache_too_small", 12, 3, _READ_ROWS.format(cache=""),
            _READ_ROWS.format(cache=", rdcc_nbytes=32_000_000"), _ROWS),
    Program("rewritten_in_parts", 8, 3, _WRITE_ROWS.format(cache=""),
            _WRITE_ROWS.format(cache=", rdcc_nbytes=32_000_000")),
    Program("wrong_shape", 10, 3, _READ_SHAPED.format(name="x"), _READ_SHAPED.format(name="y"),
            _SHAPED),
    Program("tiny_datasets", 5000, 300, """
with h5py.File("x.h5", "w") as f:
    for i in range(N):
        f[f"d{i}"] = i
""", """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(N)
"""),
    Program("in_one_thread", 4000, 400, _FIELD.format(data="rng.random((N, 1000))", how=_GZIP),
            near=_FIELD.format(data="rng.random((N, 1000))", how=", chunks=(50, 1000)"),
            layers="async"),
    Program("needless_filters", 4000, 400, _FIELD.format(data=_RANDOM, how=_GZIP),
            _FIELD.format(data=_RANDOM, how=", chunks=(50, 1000)"),
            near=(_FIELD.format(data=_SHORT, how=_GZIP), chunked.GROWING)),
    Program("missing_filters", 1500, 1100,
            _FIELD.format(data=_SHORT, how=", chunks=(50, 1000)"),
            _FIELD.format(data=_SHORT, how=_GZIP + ", shuffle=True"), storage=DISK_5,
            near=(_FIELD.format(data=_SHORT, how=_GZIP + ", shuffle=True"), _HERE_AND_THERE)),
    Program("scattered_writes", 60, 10, """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (2000, 10000), "f8")
    for i in range(N):
        d[:, i * 5] = i
""", near=(_IN_ORDER, _LOOKED_AT.format(look="d[0, 0]"), _LOOKED_AT.format(look="f.flush()")),
            layers="log"),
    Program("compute_between_writes", 40, 5, _STEPS.format(compute="time.sleep(0.015)"),
            near=_STEPS.format(compute="pass"), storage=DISK_100, layers="async"),
    Program("read_again", 200, 20, """
with h5py.File("x.h5") as f:
    for i in range(N):
        assert f["d"][()].any()
""", """
with h5py.File("x.h5") as f:
    data = f["d"][()]
    for i in range(N):
        assert data.any()
""", _BLOCK, near=(_EACH_ROW, _REFRESHED)),
    Program("same_by_all_ranks", 1, 1, _RANKS.format(shares=False), _RANKS.format(shares=True),
            _BLOCK, near=(_RANKS.format(shares=True), _ONE_AFTER_THE_OTHER),
            storage=DISK_20 + "shared=servers;"),
    Program("decoded_by_several", 40, 6, _LOADERS.format(first="0"), make=_SAMPLES,
            near=(_LOADERS.format(first="loader * N"), _SAMPLES), layers="cache(settle=0)"),
    Program("alignment", 60, 8, _CHUNKS.format(how=""), _CHUNKS.format(
            how=", alignment_threshold=262144, alignment_interval=1048576"), storage=STRIPED),
    Program("metadata_blocks", 500, 150, _READ_PAGES.format(name="x", how=""),
            _READ_PAGES.format(name="y", how=", page_buf_size=67108864"), _PAGES, storage=FAR),
    Program("filled_first", 6000, 600, _FILLED.format(how=""),
            _FILLED.format(how=', fill_time="never"'), storage=DISK_100,
            near=(_FILLED.format(how=', fill_time="never"'), _EDGES, _WRITTEN_TWICE)),
    Program("converted", 20000, 3000, _TYPED.format(how=">f4"), _TYPED.format(how="<f8"),
            near=(_TYPED.format(how="<f8"), _FEW_NUMBERS)),
    Program("united_selections", 20, 3, _LISTS.format(how="d[rows]"),
            _LISTS.format(how="d[rows[0] : rows[-1] + 1][rows - rows[0]]"), _LINE),
    Program("opened_again", 5000, 500, """
with h5py.File("x.h5") as f:
    for i in range(N):
        f["d"][i % 1000, 0]
""", """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(N):
        d[i % 1000, 0]
""", _BLOCK),
    Program("files_again", 1000, 60, """
for i in range(N):
    with h5py.File("x.h5") as f:
        f["d"][i, 0]
""", """
with h5py.File("x.h5") as f:
    for i in range(N):
        f["d"][i, 0]
""", _BLOCK),
    Program("flushed", 3000, 300, _FLUSHES.format(flush="f.flush()"),
            _FLUSHES.format(flush="pass"),
            near=(_FLUSHES.format(flush="pass"), many.APPENDED, _FOR_READERS)),
)  # fmt: skip

OVER_MPI: Final = (
    Program("independent_writes", 131072, 65536, "strided-independent",
            layers="log(mpi_logs=rank)", kernel=("vpic", "--timesteps", "1", "--slow-particles")),
)  # fmt: skip
