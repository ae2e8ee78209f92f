"""What HDF5 or the system does not take is told, and a log that outlives a program stays whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from log_layer import Log

LATER = "canonicalise=later;"
# Chunks stay in HDF5's memory until the dataset is closed or flushed; then no file may grow so far.
WRITE = """
    import resource
    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    def refused(action):
        try:
            action()
        except (OSError, RuntimeError) as error:
            assert "x.h5" in str(error) and "File too large" in str(error), error
            return True
        return False
    f = h5py.File("x.h5", "w")
    pad = f.create_dataset("pad", data=np.ones(300000, "i1"))
    f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))[:, ::2] = 7
    f.flush()
"""
FAIL = (
    WRITE
    + """
    f["d"][:, ::2] = 8
    limit(200000)
    assert refused(lambda: pad[:10]) or refused(f.flush)
    limit(resource.RLIM_INFINITY)
"""
)
RIGHT = "with h5py.File('x.h5') as f: assert (f['d'][:, ::2] == 8).all() and f['pad'][...].all()"


@pytest.mark.parametrize("options", ["", LATER])
@pytest.mark.parametrize(
    "action",
    [
        "pad[:10]",
        "f['d'][...]",
        "f['d'][...] = 9",
        "f['d'][:, 1::2] = 9",
        "f['d'].id.read_direct_chunk((0, 0))",
        "f.copy('d', 'e')",
    ],
)
@pytest.mark.parametrize("end", ["os._exit(0)", "f.flush()"])
def test_a_log_that_hdf5_does_not_take(layer: Log, action: str, options: str, end: str) -> None:
    """Nobody reads or writes past it until a flush has put it in the file."""
    layer.python(
        FAIL
        + f"""
    def action():
        {action}
    assert refused(action), "nothing is told"
    {end}
    f.close()
    """,
        options,
    )
    if options == LATER:
        layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;verify=true;")
    if options == LATER or end == "f.flush()":
        layer.plain(RIGHT)


@pytest.mark.parametrize("size", [10000, 200000])
def test_a_full_disk_when_a_file_is_closed(layer: Log, size: int) -> None:
    """The log may still have room."""
    layer.python(
        WRITE
        + f"""
    f["d"][:, ::2] = 8
    f.create_group("g")
    limit({size})
    assert refused(f.close), "nothing is told"
    os._exit(0)
    """,
        LATER,
    )


def test_a_replay_that_fails_leaves_the_log(layer: Log) -> None:
    layer.python(WRITE + "    f['d'][:, ::2] = 8\n    f.close()", LATER)
    layer.python(
        """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (200000, resource.RLIM_INFINITY))
    try:
        h5py.File("x.h5", "r+")
    except OSError as error:
        assert "dataset /d of file" in str(error) and "File too large" in str(error), error
    else:
        raise AssertionError("nothing is told")
    os._exit(0)
    """
    )
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(RIGHT)


def test_a_log_that_was_cut_off(layer: Log) -> None:
    layer.python(
        """
    from pathlib import Path
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4")
    d[:, ::2] = 7
    f.flush()
    d[:, 1::2] = 8
    f.flush()
    log = next(Path("x.h5.headrace").iterdir())
    os.truncate(log, log.stat().st_size - 100)
    try:
        d[...]
    except OSError as error:
        assert "a part of the log of file" in str(error) and "x.h5" in str(error), error
    else:
        raise AssertionError("nothing is told")
    os._exit(0)
    """,
        LATER,
    )


@pytest.mark.parametrize("opened_by", ["f.id", "f.id.reopen()"])
def test_a_flush_covers_what_hdf5_has_in_memory(layer: Log, opened_by: str) -> None:
    """Of a dataset that the program has closed, or has opened through another id of the file."""
    layer.python(
        f"""
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
    f.flush()
    file = {opened_by}
    d = h5py.Dataset(h5py.h5d.open(file, b"d"))
    d[0] = 3
    d[1::2, ::2] = 7
    if file == f.id:
        del d
        f.flush()
    else:
        d[0, 0]
    os._exit(0)
    """,
        LATER,
    )
    layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
    layer.plain("""
        d = h5py.File("x.h5")["d"]
        assert (d[1::2, ::2] == 7).all()
        assert (d[0] == 3).all()
    """)


def test_few_chunks_of_many(layer: Log) -> None:
    layer.python(
        """
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (10**9, 100), "i4", chunks=(10, 10))
    d[5 * 10**8 : 5 * 10**8 + 25, ::2] = 7
    f.close()
    f = h5py.File("x.h5", "r+")
    d = f["d"]
    d[-1, ::2] = 8
    d[5 * 10**8 + 99, ::2] = 9
    f.close()
    """
    )
    layer.plain("""
        d = h5py.File("x.h5")["d"]
        at = 5 * 10**8
        assert (d[at : at + 25, ::2] == 7).all() and not d[at - 10 : at].any()
        assert not d[at : at + 25, 1::2].any() and not d[at + 25 : at + 99].any()
        assert (d[-1, ::2] == 8).all() and (d[at + 99, ::2] == 9).all()
    """)
