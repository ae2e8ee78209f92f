"""Fill values are not written where data takes their place, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import Layer

pytestmark = pytest.mark.sanitized
ASYNC = "under_vol=7206;under_info={seat=both;under_vol=0;under_info={}}"

MIB = 1 << 20
# 4 MiB, written row by row.
ROWS = """
def rows(d, first=0, last=512):
    for i in range(first, last):
        d[i] = np.arange(1024.0) + i
"""
MAKE = "d = f.create_dataset('d', (512, 1024), 'f8', fillvalue=7.5)\n"


@pytest.fixture(params=["native", "async"])
def tune(tmp_path: Path, request: pytest.FixtureRequest) -> Layer:
    """The layer with all of its rules, over native HDF5 or over the layer async."""
    made = Layer(tmp_path, "tune", always="seat=both;", usual="")
    return made if request.param == "native" else replace(made, below=ASYNC)


def written(tune: Layer) -> tuple[int, int]:
    """Bytes of fill values that were kept back, and those of them that were written later."""
    return tune.counted("fill_deferred_bytes"), tune.counted("fill_written_bytes")


def test_whole(tune: Layer) -> None:
    tune.python(ROWS + "with h5py.File('x.h5', 'w') as f:\n    " + MAKE + "    rows(d)\n")
    assert written(tune) == (4 * MIB, 0)
    assert tune.value("all((f['d'][i] == np.arange(1024.0) + i).all() for i in range(512))") == (
        "True"
    )


def test_by_a_symbolic_link(tune: Layer) -> None:
    """HDF5 asks for the descriptor then, and does nothing by it."""
    tune.plain("h5py.File('file.h5', 'w'); os.symlink('file.h5', 'x.h5')")
    tune.python(ROWS + "with h5py.File('x.h5', 'r+') as f:\n    " + MAKE + "    rows(d)\n")
    assert written(tune) == (4 * MIB, 0)


def test_over_what_async_does(tmp_path: Path) -> None:
    """Neither layer keeps the other one from its work by looking for its own driver."""
    tune = Layer(tmp_path, "tune", always="seat=both;", usual="", below=ASYNC)
    tune.python(
        ROWS
        + """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("deflated", data=np.arange(1e5), chunks=(1000,), compression="gzip")
    """
        + MAKE
        + "    rows(d)\n",
        HEADRACE_SUMMARY=str(tmp_path / "summary"),
    )
    assert written(tune) == (4 * MIB, 0)
    assert tune.counted("chunks_encoded_behind") == 100
    assert tune.value("(f['deflated'][7], f['d'][511, 1])") == str((np.float64(7), np.float64(512)))


def test_as_native_byte_by_byte(tune: Layer) -> None:
    """Files in which parts are written, of datasets of all numbers."""
    program = """
rng = np.random.default_rng(8)
with h5py.File(sys.argv[1] if len(sys.argv) > 1 else "x.h5", "w", libver="latest") as f:
    for kind in ("i1", "<i2", ">i4", "u8", "f4", ">f8", "f2"):
        for n in (3, 1000, 5000, 300000):
            d = f.create_dataset(f"{kind}{n}".replace("<", "l").replace(">", "b"), (n,), kind,
                                 fillvalue=3, track_times=False)
            for _ in range(4):
                a, b = sorted(rng.integers(0, n + 1, 2))
                d[a:b] = rng.integers(0, 100, b - a)
            if n == 5000:
                f.flush()
                d[:10] = 1
            assert d[n - 1] is not None
"""
    tune.python(program)
    ours = (tune.folder / "x.h5").read_bytes()
    tune.plain(program)
    assert ours == (tune.folder / "x.h5").read_bytes()
    deferred, later = written(tune)
    assert deferred > later > 0


def test_read_before_it_is_written(tune: Layer) -> None:
    tune.python(
        ROWS
        + "with h5py.File('x.h5', 'w') as f:\n    "
        + MAKE
        + """
    rows(d, 100, 110)
    assert (d[:100] == 7.5).all() and (d[110:] == 7.5).all() and d[105, 3] == 108
    assert (d[:, 3][:100] == 7.5).all()
    d[::7, ::5] = 1.0
    assert (d[::7, ::5] == 1).all() and d[1, 1] == 7.5
    assert f["d"].id.get_offset() > 0 and f.id.get_filesize() > 4 << 20
"""
    )
    assert tune.value("(f['d'][1, 1], f['d'][7, 5], f['d'][511, 1023], f['d'][105, 3])") == str(
        (np.float64(7.5), np.float64(1), np.float64(7.5), np.float64(108))
    )


def test_read_behind_the_program(tune: Layer) -> None:
    """By a request, whose bytes the layer async may fetch after the call has returned."""
    tune.python(
        ROWS
        + "with h5py.File('x.h5', 'w') as f:\n    "
        + MAKE
        + """
    from random_programs.prelude import Requests
    rows(d, 0, 64)
    for first in (300, 32, 300, 0):
        requests, out = Requests(), np.zeros((512 - first, 1024))
        space = d.id.get_space()
        space.select_hyperslab((first, 0), out.shape)
        requests.start("H5Dread_async", d, space, out.reshape(-1))
        requests.wait()
        done = max(64 - first, 0)
        assert (out[done:] == 7.5).all()
        assert (out[:done, 5] == np.arange(first, first + done) + 5.0).all()
""",
        PYTHONPATH=str(Path(__file__).parents[2]),
    )
    assert tune.value("(f['d'][63, 1], f['d'][64, 1])") == str((np.float64(64), np.float64(7.5)))


@pytest.mark.parametrize(
    "look",
    {
        "flush": "f.flush()",
        "flush of the dataset": "d.flush()",
        "flush of a group": "h5py.h5f.flush(f['/'].id)",
        "address": "d.id.get_offset()",
        "descriptor": "f.id.get_vfd_handle()",
    }.items(),
    ids=lambda each: each[0].replace(" ", "_"),
)
def test_there_when_others_look(tune: Layer, look: tuple[str, str]) -> None:
    """Killed afterwards, the file holds what native HDF5's would."""
    program = (
        ROWS
        + "f = h5py.File('x.h5', 'w')\n"
        + MAKE
        + """
def filled():
    with open("x.h5", "rb") as raw:
        return raw.read().count(np.full(128, 7.5).tobytes())
f.flush()
rows(d, 5, 6)
before = filled()
"""
        + look[1]
        + """
print(before, filled(), flush=True)
os.kill(os.getpid(), 9)
"""
    )
    ours = tune.start(program).out.decode().split()
    native = tune.start(program, None).out.decode().split()
    assert ours[0] == "0"
    assert int(native[0]) >= 511 * 8
    assert ours[1] == native[1]


@pytest.mark.parametrize(
    "how",
    [
        "fillvalue=7.5, chunks=(64, 1024)",
        "fillvalue=7.5, fill_time='never'",
        "fillvalue=None",
        "",
    ],
)
def test_left_alone(tune: Layer, how: str) -> None:
    """Where native HDF5 fills no storage, or fills it chunk by chunk."""
    tune.python(
        f"{ROWS}with h5py.File('x.h5', 'w') as f:\n"
        f"    rows(f.create_dataset('d', (512, 1024), 'f8', {how}))\n"
    )
    assert written(tune) == (0, 0)


def test_only_when_told(tmp_path: Path) -> None:
    """The option is off by itself, and the driver is not there then."""
    tune = Layer(tmp_path, "tune", usual="")
    tune.python(ROWS + "with h5py.File('x.h5', 'w') as f:\n    " + MAKE + "    rows(d)\n")
    assert written(tune) == (0, 0)
    assert [event["seat"] for event in tune.loads] == ["vol"]


def test_the_program_sees_its_own_driver(tune: Layer) -> None:
    tune.python(
        """
with h5py.File("x.h5", "w") as f:
    fapl = f.id.get_access_plist()
    assert fapl.get_driver() == h5py.h5fd.SEC2
    assert f.driver == "sec2"
"""
    )
    assert {event["seat"] for event in tune.loads} == {"vol", "vfd"}


def test_a_full_disk(tune: Layer) -> None:
    """What was kept back and cannot be written is an error of the flush, and tried again."""
    tune.python(
        ROWS
        + """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = h5py.File("x.h5", "w")
"""
        + MAKE
        + """
f.flush()
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, most))
d[5] = 1.0
try:
    f.flush()
except (OSError, RuntimeError) as error:
    print(error)
else:
    raise AssertionError("a flush that could not write succeeded")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
f.flush()
f.close()
"""
    )
    assert tune.value("(f['d'][4] == 7.5).all() and (f['d'][5] == 1).all()") == "True"


def test_netcdf(tune: Layer) -> None:
    """Which gives each variable a fill value, and writes it step by step."""
    netcdf4 = pytest.importorskip("netCDF4")
    assert netcdf4
    tune.python(
        """
import netCDF4
with netCDF4.Dataset("x.nc", "w") as f:
    f.createDimension("time", 64); f.createDimension("x", 8192)
    v = f.createVariable("v", "f8", ("time", "x"), contiguous=True)
    for i in range(64):
        v[i] = np.arange(8192.0) + i
"""
    )
    deferred, later = written(tune)
    assert deferred == 4 * MIB
    assert later == 0
    with h5py.File(tune.folder / "x.nc") as f:
        assert (f["v"][63] == np.arange(8192.0) + 63).all()
