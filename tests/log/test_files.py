"""Files that are open by several ids, linked or mounted, and files open when HDF5 ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from harness.prefix import ROOT, Hdf5
from harness.run import run

if TYPE_CHECKING:
    from log_layer import Log

LATER = "canonicalise=later;"
REPLAY = """
    for name in ("x.h5", "y.h5"):
        if os.path.exists(name):
            h5py.File(name, "r+").close()
"""
LIBRARY = """
    import ctypes
    maps = [line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line]
    hdf5 = ctypes.CDLL(next(path for path in maps if "_hl" not in path))
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
"""


def test_the_file_of_an_object_behind_a_link_is_closed(layer: Log) -> None:
    layer.python(
        """
    h5py.File("y.h5", "w").create_group("g")
    f = h5py.File("x.h5", "w")
    f["l"] = h5py.ExternalLink("y.h5", "g")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
    far = h5py.h5i.get_file_id(h5py.h5o.open(f.id, b"l"))
    assert far.name.endswith(b"y.h5")
    f["d"][:, ::2] = 8
    far.close()
    f["d"][...] = 9
    f.close()
    """,
        LATER,
    )
    assert layer.counted("writes_logged") > 0
    layer.python(REPLAY)
    layer.plain("assert (h5py.File('x.h5')['d'][...] == 9).all()")


@pytest.mark.parametrize("options", ["", LATER])
def test_committed_types_do_not_keep_a_file_open(layer: Log, options: str) -> None:
    layer.python(
        """
    weak = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    weak.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    for again in range(2):
        f = h5py.File(h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=weak))
        f["t"] = np.dtype("i4")
        f.create_dataset("d", (100, 100), dtype=f["t"])[:, ::2] = 7
        f["d"][:, 1::2] = 8
        f.id.close()
    """,
        options,
    )
    assert layer.counted("writes_logged") > 0
    layer.python(REPLAY)
    layer.plain("""
        f = h5py.File("x.h5")
        assert (f["d"][:, ::2] == 7).all() and (f["d"][:, 1::2] == 8).all()
        assert f["d"].id.get_type().committed()
    """)


@pytest.mark.parametrize("options", ["", LATER])
def test_hdf5_is_closed_with_a_file_open(layer: Log, options: str) -> None:
    layer.python(LIBRARY + "    d[:, ::2] = 7\n    hdf5.H5close()\n    os._exit(0)", options)
    assert layer.counted("writes_logged") > 0
    layer.python(REPLAY)
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


@pytest.mark.parametrize("options", ["", LATER])
@pytest.mark.parametrize("build", ["1.14.5-openmpi", "2.2.0-mpich"])
def test_hdf5_ends_and_begins_anew(layer: Log, build: str, options: str) -> None:
    program = ROOT / f"build/dev/tests/log/ends_{Hdf5(build).mpi}"
    done = run([program, "x.h5"], env=layer.env(options), cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert layer.counted("writes_logged") == 3
    layer.python(REPLAY)
    layer.plain("assert (h5py.File('x.h5')['d'][...] == np.arange(90) % 3 + 1).all()")


def test_a_program_writes_while_it_ends(layer: Log) -> None:
    """After whatever the layer itself does when a process ends, and before HDF5 ends."""
    layer.python(
        LIBRARY
        + """
    libc = ctypes.CDLL(None)
    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def end(_):
        d[...] = 9
        d[0, ::2] = 10
    assert libc.__cxa_atexit(end, None, None) == 0
    d[:, ::2] = 7
    libc.exit(0)
    """,
        LATER,
    )
    layer.python(REPLAY)
    layer.plain("""
        d = h5py.File("x.h5")["d"]
        assert (d[1:] == 9).all() and (d[0, ::2] == 10).all() and (d[0, 1::2] == 9).all()
    """)


def test_a_mounted_file(layer: Log) -> None:
    layer.python(
        """
    x, y = h5py.File("x.h5", "w"), h5py.File("y.h5", "w")
    x.create_group("m")
    y.create_dataset("d", (100, 100), "i4")[:, ::2] = 6
    h5py.h5f.mount(x.id, b"m", y.id)
    x["m/d"][:, ::2] = 7
    h5py.h5f.unmount(x.id, b"m")
    y["d"][:, 1::2] = 8
    x.close(), y.close()
    assert not [name for name in os.listdir() if "headrace" in name]
    """,
        LATER,
    )
    layer.plain("""
        x, y = h5py.File("x.h5"), h5py.File("y.h5")
        assert not x.attrs and not y.attrs
        assert (y["d"][:, ::2] == 7).all() and (y["d"][:, 1::2] == 8).all()
    """)


def test_a_file_with_a_log_is_not_mounted(layer: Log) -> None:
    layer.python(
        "with h5py.File('y.h5', 'w') as f: f.create_dataset('d', (99, 99))[:, ::2] = 1", LATER
    )
    done = layer.start("""
    x = h5py.File("x.h5", "w")
    x.create_group("m")
    h5py.h5f.mount(x.id, b"m", h5py.File("y.h5").id)
    """)
    assert done.status == 1
    assert "y.h5 has a log, which must be replayed first" in done.text, done.text


@pytest.mark.parametrize("options", ["", LATER])
def test_a_token_that_is_used_again(layer: Log, options: str) -> None:
    """A dataset without a link goes when it is closed."""
    layer.python(
        """
    f = h5py.File("x.h5", "w")
    reused = 0
    for k in range(20):
        nameless = f.create_dataset(None, (100, 100), "i4")
        same = f[nameless.ref]
        same[:, ::2] = 1
        token = h5py.h5o.get_info(same.id).addr
        del nameless, same
        d = f.create_dataset(f"d{k}", (30, 50), "i8")
        reused += h5py.h5o.get_info(d.id).addr == token
        d[:, ::2] = 2**40 + k
    f.close()
    assert reused, "this shows nothing"
    """,
        options,
    )
    layer.python(REPLAY)
    layer.plain("""
        f = h5py.File("x.h5")
        assert all((f[f"d{k}"][:, ::2] == 2**40 + k).all() for k in range(20))
        assert not any(f[f"d{k}"][:, 1::2].any() for k in range(20))
    """)


def test_swmr_begins(layer: Log) -> None:
    layer.python(
        """
    import subprocess
    f = h5py.File("x.h5", "w", libver="latest")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
    d[:, ::2] = 7
    f.swmr_mode = True
    d[:, 1::2] = 8
    f.flush()
    reader = "import h5py; d = h5py.File('x.h5', swmr=True)['d']; " \\
        "assert (d[:, ::2] == 7).all() and (d[:, 1::2] == 8).all()"
    subprocess.run([sys.executable, "-c", reader], check=True)
    f.close()
    """,
        LATER,
    )


@pytest.mark.parametrize("options", ["", LATER])
def test_data_behind_a_link_is_in_its_own_file(layer: Log, options: str) -> None:
    """Who opens that file knows nothing of logs beside others."""
    layer.plain("h5py.File('x.h5', 'w').create_dataset('d', (100, 100), 'i4', chunks=(50, 50))")
    layer.python(
        """
    f = h5py.File("y.h5", "w")
    f.create_dataset("own", (100, 100), "i4")[:, ::2] = 6
    f["l"] = h5py.ExternalLink("x.h5", "d")
    far = f["l"]
    far[:, ::2] = 7
    f["l"][:, 1::2] = 8
    f.close()
    """,
        options,
    )
    assert layer.counted("writes_logged") > 0
    layer.plain("""
        d = h5py.File("x.h5")["d"]
        assert (d[:, ::2] == 7).all() and (d[:, 1::2] == 8).all()
        assert not h5py.File("x.h5").attrs
    """)


@pytest.mark.parametrize("mode", ["r+", "r"])
def test_another_kind_of_object_in_a_dataset_place(layer: Log, mode: str) -> None:
    """It is told, and left open by nobody: HDF5 would keep the file."""
    layer.python(
        "with h5py.File('x.h5', 'w') as f: f.create_dataset('d', (99, 99), 'i4')[:, ::2] = 1", LATER
    )
    layer.plain("""
        with h5py.File("x.h5") as f:
            mark, address = f.attrs["_headrace_log"], h5py.h5o.get_info(f["d"].id).addr
        with h5py.File("x.h5", "w") as f:
            f.create_group("d")
            assert h5py.h5o.get_info(f["d"].id).addr == address, "this shows nothing"
            f.attrs["_headrace_log"] = mark
    """)
    layer.python(f"""
    try:
        f = h5py.File("x.h5", "{mode}")
    except OSError as error:
        assert "dataset /d of the log is not in file" in str(error), error
        assert "x.h5" in str(error), error
    else:
        assert "{mode}" == "r"
        f.close()
    h5py.File("x.h5", "w").close()
    """)


@pytest.mark.parametrize("options", ["", LATER])
def test_three_ids_of_a_file_when_hdf5_ends(layer: Log, options: str) -> None:
    """HDF5 2.0 closes some when it has freed the file: it must not be asked about it."""
    layer.python(
        """
    import ctypes
    h5py.File("x.h5", "w").close()
    first = h5py.File("y.h5", "w", driver="split")
    second, third = (h5py.File("y.h5", "r+", driver="split") for _ in range(2))
    first.close()
    ctypes.CDLL(None).exit(0)
    """,
        options,
    )


def test_a_flush_is_one_of_its_file(layer: Log) -> None:
    """The log of another one must not cover what HDF5 has not written of that."""
    layer.python(
        """
    a, b = h5py.File("a.h5", "w"), h5py.File("b.h5", "w")
    for f in (a, b):
        f.create_dataset("d", (100, 100), "i4", maxshape=(None, 100), chunks=(10, 100))
        f["d"][:, ::2] = 1
        f.flush()
    b["d"].resize(200, 0)
    b["d"][100:, ::2] = 2
    b.create_dataset("new", (100, 100), "i4")[:, ::2] = 3
    a["d"][:, 1::2] = 2
    a.flush()
    os._exit(0)
    """,
        LATER,
    )
    layer.python(
        """
    for name, odd in (("a.h5", 2), ("b.h5", 0)):
        with h5py.File(name, "r+") as f:
            d = f["d"][:100]
            assert (d[:, ::2] == 1).all() and (d[:, 1::2] == odd).all(), name
    """,
        LATER + "recover=true;",
    )


def test_a_group_that_is_moved_amid_writes(layer: Log) -> None:
    layer.python(
        """
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("g/h/d", (100, 100), "i4")
        d[:, ::2] = 1
        f.move("g", "k")
        d[:, 1::2] = 2
    """,
        LATER,
    )
    assert layer.counted("writes_logged") > 0
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    layer.plain("""
        d = h5py.File("x.h5")["k/h/d"]
        assert (d[:, ::2] == 1).all() and (d[:, 1::2] == 2).all()
    """)
