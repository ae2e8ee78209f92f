"""What is told names the file, the object and the cause, and nothing is told that is no error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from log_layer import Log

LATER = "canonicalise=later;"
WRITE = """
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50), compression=1)
    d[:, ::2] = 7
"""
TELL = """
    def told(action):
        try:
            action()
        except (OSError, RuntimeError) as error:
            return str(error)
        raise AssertionError("nothing is told")
"""


@pytest.mark.parametrize(
    "attribute",
    [
        "np.zeros(16, 'u1')",
        "np.void(bytes(15))",
        "np.zeros(1000, 'V16')",
        "np.zeros(0, 'V16')",
        "h5py.Empty('V16')",
    ],
)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_marker_that_is_none(layer: Log, attribute: str, mode: str) -> None:
    layer.plain(f"h5py.File('x.h5', 'w').attrs['_headrace_log'] = {attribute}")
    done = layer.start(f"h5py.File('x.h5', '{mode}')")
    assert done.status == 1, done.text
    assert (
        "attribute _headrace_log of the root group of file x.h5 does not name a log: "
        "it is not 16 opaque bytes" in done.text
    ), done.text
    assert layer.plain("print(len(h5py.File('x.h5').attrs))") == "1"


def test_what_lies_between_logged_data_cannot_be_read(layer: Log) -> None:
    """A chunk whose filter fails."""
    layer.plain(WRITE + "    f.close()")
    layer.plain("""
        with h5py.File("x.h5", "r+") as f:
            f["d"].id.write_direct_chunk((50, 0), b"this is not deflated")
    """)
    layer.python(
        TELL
        + """
    f = h5py.File("x.h5", "r+")
    f["d"][:, ::2] = 8
    text = told(f.close)
    assert "writing dataset /d of file x.h5 failed: HDF5 cannot read what lies" in text, text
    assert "between logged data: filter returned failure during read" in text, text
    os._exit(0)
    """
    )


def test_a_log_that_is_gone(layer: Log) -> None:
    layer.python(
        WRITE
        + TELL
        + """
    d[...]
    os.unlink(next(os.scandir("x.h5.headrace")).path)
    text = told(f.close)
    assert f"log {os.getcwd()}/x.h5.headrace/" in text, text
    assert ".log cannot be removed" in text and "No such file or directory" in text, text
    os._exit(0)
    """,
        LATER,
    )


@pytest.mark.parametrize("end", ["f.close()", "f.flush()"])
@pytest.mark.parametrize(
    "action",
    ["del marks['_headrace_log']", "marks.modify('_headrace_log', np.void(bytes(16)))"],
)
def test_a_marker_that_is_gone(layer: Log, action: str, end: str) -> None:
    """Nobody would find the log any more, so it is put in order while there is time."""
    layer.python(
        WRITE
        + f"""
    d[:, 1::2] = 8
    marks = f.attrs
    {action}
    {end}
    os._exit(0)
    """,
        LATER,
    )
    layer.plain("""
        d = h5py.File("x.h5")["d"]
        assert (d[:, ::2] == 7).all() and (d[:, 1::2] == 8).all()
    """)


def test_nothing_is_printed_of_questions(layer: Log) -> None:
    """The layer asks HDF5 for what a list may not have, and HDF5 prints what it answers."""
    layer.python(WRITE + "    f.close()", LATER)
    done = layer.python("""
        import ctypes
        from h5py import _errors
        maps = [line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line]
        hdf5 = ctypes.CDLL(next(path for path in maps if "_hl" not in path))
        f = h5py.File("x.h5")
        d = f["d"]
        into = np.zeros((100, 100), "i4")
        d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, into)
        another = h5py.h5p.create(h5py.h5p.DATASET_XFER)
        assert hdf5.H5Pset_hyper_vector_size(ctypes.c_int64(another.id), ctypes.c_size_t(64)) == 0
        _errors.unsilence_errors()
        d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, into, dxpl=another)
        assert (into[:, ::2] == 7).all() and not into[:, 1::2].any()
    """)
    assert "HDF5-DIAG" not in done.text, done.text
