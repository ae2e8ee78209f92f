"""Chunk caches are enlarged where chunks come again, and nothing else changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from harness.layer import Layer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sanitized

# Chunks have 512 KiB, 4 x 3 of them for each copy; HDF5 2.x keeps 8 MiB of them.
MADE = """
rng = np.random.default_rng(5)
def make(name="x.h5", copies=1, **how):
    data = rng.integers(0, 9, (copies * 1024, 768), np.int64)
    with h5py.File(name, "w") as f:
        f.create_dataset("g/d", data=data, chunks=(256, 256),
                         **({"compression": 1} | how))
    return data
def cache(d):
    return d.id.get_access_plist().get_chunk_cache()
"""


def enlarged(tune: Layer) -> list[str]:
    """The sizes that caches were given, in order."""
    return re.findall(r"the chunk cache of .* has (\d+) bytes now", tune.log)


def test_rows_of_chunks_larger_than_the_cache(tune: Layer) -> None:
    """A chunk of 16 MiB fits into no version's cache."""
    tune.python(
        MADE
        + """
data = rng.integers(0, 9, (2048, 1024), np.int64)
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", data.shape, data.dtype, chunks=data.shape, compression=1)
    before = cache(d)
    for i in range(0, 2048, 64):
        d[i : i + 64] = data[i : i + 64]
    assert cache(d) == before, (cache(d), before)
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(0, 2048, 64):
        assert (d[i : i + 64] == data[i : i + 64]).all()
    assert cache(d) == before
"""
    )
    assert enlarged(tune) == ["16777216"] * 2
    assert tune.counted("chunk_caches_enlarged") == 2
    assert tune.value("f['d'][:].sum() > 0 and f['d'].chunks") == "(2048, 1024)"


def test_columns_of_chunks_that_leave_the_cache(tune: Layer) -> None:
    """32 chunks of 512 KiB in a column: twice what 2.x has a cache for."""
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5") as f:
    d = f["g/d"]
    for j in range(12):
        assert (d[:, j] == data[:, j]).all()
"""
    )
    assert enlarged(tune) == ["16777216"]


@pytest.mark.parametrize(
    ("name", "program"),
    {
        "once": "d = f['g/d']\nfor i in range(0, 4096, 256): d[i : i + 256]",
        "opened again": "for i in range(30): f['g/d'][:, i]",
        "fits": "d = f['g/d']\nfor i in range(30): d[i, :256]",
        "own size": "g = h5py.File('x.h5', rdcc_nbytes=3 << 20)\n"
        "for i in range(30): g['g/d'][:, i]",
        "switched off": "d = f['g/d']\nfor i in range(30): d[:, i]",
        "too little memory": "d = f['g/d']\nfor i in range(30): d[:, i]",
    }.items(),
)
def test_left_alone(tune: Layer, name: str, program: str) -> None:
    options = {"switched off": "chunk_cache=false;", "too little memory": "memory=2MiB;"}
    program = program.replace("\n", "\n    ")
    opened = "h5py.File('y.h5', 'w')" if name == "own size" else "h5py.File('x.h5')"
    tune.python(
        f"{MADE}make(copies=8)\nwith {opened} as f:\n    {program}\n", options.get(name, "")
    )
    assert not enlarged(tune)
    assert tune.counted("chunk_caches_beyond_memory") == (name == "too little memory")


def test_rows_by_the_hundreds_need_one_enlargement(tune: Layer) -> None:
    """Of many alike transfers only some are looked at: that changes nothing of what they need."""
    tune.python(
        f"{MADE}make(copies=8)\nwith h5py.File('x.h5') as f:\n    d = f['g/d']\n"
        "    for i in range(900):\n        d[:, i % 256]"
    )
    assert enlarged(tune) == ["16777216"]


def test_small_reads_of_what_fits(tune: Layer) -> None:
    tune.python(
        f"{MADE}make(copies=8)\nwith h5py.File('x.h5') as f:\n    d = f['g/d']\n"
        "    for i in range(5000):\n        d[i % 256, i % 512]"
    )
    assert not enlarged(tune)


def test_chunks_without_filters_that_do_not_fit(tune: Layer) -> None:
    """Of which HDF5 reads parts: a cache would have it read all of each."""
    tune.python(
        MADE
        + """
data = rng.integers(0, 9, (2048, 1024), np.int64)
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=data, chunks=data.shape)
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(100):
        assert (d[i] == data[i]).all()
"""
    )
    assert not enlarged(tune)


def test_the_memory_is_given_back(tune: Layer) -> None:
    tune.python(
        MADE
        + """
for _ in range(3):
    data = make(copies=8)
    with h5py.File("x.h5") as f:
        d = f["g/d"]
        for j in range(6):
            assert (d[:, j] == data[:, j]).all()
""",
        "memory=20MiB;",
    )
    assert len(enlarged(tune)) == 3


def test_within_an_iteration(tune: Layer) -> None:
    """HDF5 holds on to objects that it goes through."""
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5", "r+") as f:
    d = f["g/d"]
    for i in range(20):
        d.attrs[f"a{i}"] = i
    def look(*_):
        for j in range(6):
            assert (d[:, j] == data[:, j]).all()
    f.visititems(look)
    h5py.h5a.iterate(d.id, look)
"""
    )
    assert not enlarged(tune)


def test_a_soft_link_that_leads_elsewhere_by_now(tune: Layer) -> None:
    """The dataset is opened again by a name that still leads to it."""
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5", "r+") as f:
    f.create_dataset("other", data=data + 1, chunks=(256, 256), compression=1)
    f["soft"] = h5py.SoftLink("/g/d")
    d = f["soft"]
    del f["soft"]
    f["soft"] = h5py.SoftLink("/other")
    for j in range(12):
        assert (d[:, j] == data[:, j]).all()
"""
    )
    assert enlarged(tune)


def test_what_no_link_leads_to(tune: Layer) -> None:
    """Closing it would delete it."""
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5", "r+") as f:
    d = f["g/d"]
    del f["g/d"]
    for j in range(12):
        assert (d[:, j] == data[:, j]).all()
    n = f.create_dataset(None, data=data, chunks=(256, 256), compression=1)
    for j in range(12):
        assert (n[:, j] == data[:, j]).all()
    f["kept"] = n
"""
    )
    assert not enlarged(tune)
    assert tune.value("f['kept'][:].any()") == "True"


def test_another_dataset_of_that_name(tune: Layer) -> None:
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5", "r+") as f:
    d = f["g/d"]
    f.move("g/d", "g/e")
    f["g/d"] = 5
    for j in range(12):
        assert (d[:, j] == data[:, j]).all()
    assert f["g/d"][()] == 5
"""
    )


def test_a_dataset_of_another_file(tune: Layer) -> None:
    """By an external link, after the first file is closed."""
    tune.python(
        MADE
        + """
data = make("y.h5", copies=8)
with h5py.File("x.h5", "w") as f:
    f["link"] = h5py.ExternalLink("y.h5", "g/d")
    d = f["link"]
for j in range(12):
    assert (d[:, j] == data[:, j]).all()
d.id.close()
"""
    )
    assert enlarged(tune) == ["16777216"]


def test_two_handles_and_what_was_opened_from_one(tune: Layer) -> None:
    """HDF5 has one cache for all handles; attributes and spaces live on."""
    tune.python(
        MADE
        + """
data = make(copies=8)
with h5py.File("x.h5", "r+") as f:
    d, other = f["g/d"], f["g/d"]
    for j in range(6):
        assert (d[:, j] == data[:, j]).all()
    other.id.close()
    d.attrs["a"] = 1
    a, space = h5py.h5a.open(d.id, b"a"), d.id.get_space()
    e = f["g/d"]
    d.id.close()
    for j in range(6):
        e[:, j] = j
        assert (e[:, j] == j).all()
    value = np.zeros((), int)
    a.read(value)
    assert value == 1 and space.shape == data.shape
    assert e.parent == f["g"] and e.name == "/g/d" and f["g/d"] == e
"""
    )
    assert tune.value("[int(f['g/d'][:, j].sum()) for j in range(6)]") == str(
        [8192 * j for j in range(6)]
    )


def test_appends(tune: Layer) -> None:
    """The extent grows, by its first dimension and by another one."""
    tune.python(
        MADE
        + """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (0, 8), "i8", chunks=(1 << 18, 8), maxshape=(None, None),
                         compression=1)
    for i in range(40):
        d.resize(i + 1, axis=0)
        d[i] = i
    d.resize(20, axis=1)
    for i in range(40):
        d[i, 8:] = -i
"""
    )
    assert enlarged(tune)
    assert tune.value("[f['d'][7, 3], f['d'][39, 19], f['d'].shape]").startswith("[np.int64(7)")


def test_a_dataset_without_elements(tune: Layer) -> None:
    tune.python(
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (0,), "i4", chunks=(4,), maxshape=(None,), compression=1)
    for _ in range(4):
        d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(0, "i4"))
        d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(0, "i4"))
""",
        "assume_cache=1;",
    )


@pytest.mark.parametrize(
    "how",
    ["dtype='f4', scaleoffset=2", "dtype='u2', dcpl=drops_unused_bits"],
    ids=["round", "nbit"],
)
def test_filters_that_lose_something(tune: Layer, how: str) -> None:
    """When a chunk leaves the cache decides on values: that stays while they are written."""
    tune.python(
        f"""
drops_unused_bits = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
drops_unused_bits.set_filter(h5py.h5z.FILTER_NBIT, 0, ())
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (400_000,), chunks=(100_000,), {how})
    for i in range(0, 400_000, 10_000):
        d[i] = i / 7
    for i in range(4):
        d[i::4]
""",
        "assume_cache=1;",
    )
    assert not enlarged(tune)
    tune.python("with h5py.File('x.h5') as f:\n    for i in range(9): f['d'][i]\n"
                "    d = f['d']\n    for i in range(9): d[i::9]", "assume_cache=1;")  # fmt: skip
    assert enlarged(tune)


def test_others_read_while_it_is_written(tune: Layer) -> None:
    """In SWMR mode, begun after the file was opened, by another of its handles."""
    tune.python(
        MADE
        + """
with h5py.File("x.h5", "w", libver="latest") as f:
    d = f.create_dataset("d", data=np.arange(4096), chunks=(512,), compression=1)
    g = h5py.File("x.h5", "r+", libver="latest")
    g.swmr_mode = True
    for i in range(30):
        assert d[i::512].sum() == np.arange(4096)[i::512].sum()
""",
        "assume_cache=1;",
    )
    assert not enlarged(tune)


def test_a_full_disk(tune: Layer) -> None:
    """What cannot be written stays HDF5's error."""
    done = tune.start(
        MADE
        + """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
data = rng.integers(0, 1 << 60, (4096, 512), np.int64)
f = h5py.File("x.h5", "w")
d = f.create_dataset("d", data.shape, data.dtype, chunks=data.shape, compression=1)
f.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
failed = 0
for i in range(0, 4096, 256):
    try:
        d[i : i + 256] = data[i : i + 256]
    except OSError:
        failed += 1
try:
    f.flush()
except (OSError, RuntimeError) as error:
    failed += 1
    print(error)
assert failed
os._exit(0)
"""
    )
    assert done.status == 0, done.text


def test_chunks_that_the_layer_below_keeps(tmp_path: Path) -> None:
    """They are not held in memory twice."""
    below = "under_vol=7216;under_info={settle=0;memory=64MiB;under_vol=0;under_info={}}"
    above = Layer(tmp_path, "tune", always="seat=both;", below=below)
    program = (
        MADE
        + """
make(copies=8)
with h5py.File("x.h5") as f:
    d = f["g/d"]
    for j in range(12):
        d[:, j]
"""
    )
    (tmp_path / "shared").mkdir(0o700)
    above.python(program, HEADRACE_SHARED=str(tmp_path / "shared"))
    assert above.counted("chunks_cached") >= 32
    assert not enlarged(above)
