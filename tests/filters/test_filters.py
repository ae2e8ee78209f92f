"""Parallel filters: what programs read is native HDF5's, what is written any HDF5 reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from filters.conftest import Filters

FIELD = """
    import h5py, numpy
    random = numpy.random.default_rng(1)
    field = (numpy.add.outer(numpy.arange(600), numpy.arange(500)) // 9).astype("f4")
    field += random.integers(0, 4, field.shape)
"""


def test_whole_dataset_is_ours_both_ways(filters: Filters) -> None:
    filters.python(
        FIELD
        + """
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=field, chunks=(100, 100), compression=4, shuffle=True)
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == field).all()
    """
    )
    assert filters.counts["chunks_encoded"] == 30
    assert filters.counts["chunks_decoded"] == 30
    assert filters.counts["calls_left_to_hdf5"] == 0
    assert (
        filters.plain("f['d'][...].sum()")
        == filters.python(FIELD + "    print(field.sum())").out.decode().strip()
    )


def test_rows_decode_and_encode_each_chunk_once(filters: Filters) -> None:
    filters.python(
        FIELD
        + """
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", field.shape, "f4", chunks=(300, 500), compression=4)
        for i in range(600):
            d[i] = field[i]
        d.attrs["a"] = 1
        for i in random.permutation(600):
            assert (d[i] == field[i]).all()
    with h5py.File("x.h5") as f:
        for i in random.permutation(600):
            assert (f["d"][i] == field[i]).all()
    """
    )
    assert filters.counts["chunks_encoded"] == 2
    assert filters.counts["chunks_decoded"] == 2
    assert filters.counts["chunk_cache_hits"] > 1700


def test_appended_rows_stay_in_the_cache(filters: Filters) -> None:
    filters.python(
        FIELD
        + """
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (0, 500), "f4", maxshape=(None, 500), chunks=(100, 500),
                             compression=4)
        for i in range(600):
            d.resize(i + 1, axis=0)
            d[i] = field[i]
    """
    )
    assert filters.counts["chunks_encoded"] == 6
    assert filters.counts["chunks_decoded"] == 0
    assert filters.plain("f['d'].shape == (600, 500) and f['d'][599, 499] > 0") == "True"


# What a program may do after it has written a chunk, or a part of one; another handle, or another
# reader, must see it.
LATE = {
    "flush": "f.flush()",
    "storage_size": "assert d.id.get_storage_size() > 0",
    "chunk_info": "assert d.id.get_num_chunks() == 1",
    "raw_chunk": "assert len(d.id.read_direct_chunk((0,))[1]) > 0",
    "scattered": "assert d[[3, 5]].tolist() == [7, 0]",
    "copy": "f.copy('d', 'e'); assert f['e'][3] == 7",
    "other_handle": "assert f['d'][3] == 7",
    "second_file": "assert h5py.File('x.h5', 'r+')['d'][3] == 7",
    "virtual": """
    layout = h5py.VirtualLayout((10,), "i4")
    layout[:] = h5py.VirtualSource(d)[:10]
    f.create_virtual_dataset("v", layout)
    assert f["v"][3] == 7
    """,
    "weak_close": "f.id.close(); assert d[3] == 7; d[4] = 8; d.id.close()",
    "close_of_handle": "d = None",
    "exit": "import sys; keep = (f, d); sys.exit()",
}


@pytest.mark.parametrize("selection", ["3", "3:4", ":500"])
@pytest.mark.parametrize("what", LATE)
def test_a_dirty_chunk_is_seen(filters: Filters, what: str, selection: str) -> None:
    text = LATE[what].strip()
    filters.python(
        "import h5py\n"
        "f = h5py.File(h5py.h5f.create(b'x.h5'))\n"
        "d = f.create_dataset('d', (1000,), 'i4', chunks=(500,), compression=4)\n"
        f"d[{selection}] = {[0, 0, 0, 7] + [0] * 496 if selection == ':500' else 7}\n"
        + "\n".join(line[4:] if line.startswith("    ") else line for line in text.splitlines())
    )
    assert filters.plain("f['d'][3:6:2].tolist()") == "[7, 0]"
    assert filters.counts["chunks_encoded"] >= 1


def test_flushed_data_survives_a_kill(filters: Filters) -> None:
    done = filters.python(
        """
    import os, signal, h5py
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (1000,), "i4", chunks=(1000,), compression=4)
    d[3] = 7
    f.flush()
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    print(d[3])
    """
    )
    assert done.out == b"7\n"


def test_a_forked_child_reads_with_threads_of_its_own(filters: Filters) -> None:
    filters.python(
        FIELD
        + """
    import os
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=field, chunks=(100, 100), compression=4)
    f = h5py.File("x.h5")
    assert (f["d"][...] == field).all()
    child = os.fork()
    if child == 0:
        os._exit(0 if (f["d"][:, :400] == field[:, :400]).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    """
    )


@pytest.mark.parametrize("fletcher32", [False, True])
def test_damaged_chunks_end_as_they_do_natively(filters: Filters, fletcher32: bool) -> None:
    text = f"""
    import h5py, numpy
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=numpy.arange(40000) % 977, chunks=(10000,), compression=4,
                             shuffle=True, fletcher32={fletcher32})
        where = d.id.get_chunk_info(2)
    bytes = bytearray(open("x.h5", "rb").read())
    for i in range(20, 40):
        bytes[where.byte_offset + i] ^= 0x5a
    open("x.h5", "wb").write(bytes)
    """
    filters.python(text)
    read = """
    import h5py
    with h5py.File("x.h5") as f:
        print(f["d"][:20000].sum(), f["d"][35000:].sum())
        for what in (slice(None), 25000):
            try:
                print(f["d"][what])
            except OSError as error:
                print(error)
    """
    native = filters.python(read, None)
    ours = filters.python(read)
    assert ours.out == native.out
    assert ours.out.count(b"Can't synchronously read data") == 2
    assert filters.counts["chunks_decoded"] > 0


def test_chunks_stored_without_a_filter_are_read_and_left_to_hdf5_to_replace(
    filters: Filters,
) -> None:
    """HDF5 goes on using the old mask after H5Dwrite_chunk."""
    filters.python(
        """
    import h5py, numpy
    data = numpy.arange(1000, dtype="i4")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (2000,), "i4", chunks=(1000,), shuffle=True, compression=4)
        for start in (0, 1000):
            d.id.write_direct_chunk((start,), data.tobytes(), filter_mask=3)
    with h5py.File("x.h5", "r+") as f:  # HDF5 mistakes the mask until then
        d = f["d"]
        assert (d[:1000] == data).all()
        d[:1000] = data[::-1]
        d[1500] = -1
        assert (d[:1000] == data[::-1]).all()
        assert d[1499:1502].tolist() == [499, -1, 501]
        assert d.id.get_chunk_info(0).filter_mask == 0
    """
    )
    assert filters.plain("f['d'][:3].tolist(), f['d'][1499:1502].tolist()") == (
        "[999, 998, 997] [499, -1, 501]"
    )
    assert filters.counts["chunks_decoded"] > 0
    assert filters.counts["chunks_encoded"] == 0


@pytest.mark.parametrize("options", ["seat=vol;filters=false;", "seat=vfd;"])
def test_settings_leave_all_to_hdf5(filters: Filters, options: str) -> None:
    filters.python(
        FIELD
        + """
    with h5py.File("x.h5", "w") as f:
        assert (f.create_dataset("d", data=field, compression=4)[...] == field).all()
    """,
        options,
    )
    assert filters.counts["chunks_encoded"] == filters.counts["chunks_decoded"] == 0


# What is left to HDF5, and what the statistics call the reason.
NOT_OURS = {
    "scale_offset": (
        "f.create_dataset('d', (9,), 'i4', scaleoffset=0, compression=1)[...] = 5",
        "filters",
    ),
    "contiguous": ("f.create_dataset('d', data=field)", "layout"),
    "chunked_only": ("f.create_dataset('d', data=field, chunks=(9, 9))", "filters"),
    "scattered": (
        "f.create_dataset('d', (9,), 'f4', chunks=(3,), compression=1)[[2, 5]] = 1; f['d'][::2]",
        "selection",
    ),
    "longer_strings": (
        "f.create_dataset('d', (9,), 'S9', chunks=(3,), compression=1).astype('S20')[...]",
        "conversion",
    ),
    "variable_strings": (
        "f.create_dataset('d', data=['a', 'b'] * 50, chunks=(9,), compression=1)",
        "datatype",
    ),
    "strings_in_compounds": (
        "f.create_dataset('d', (9,), [('a', h5py.string_dtype())], chunks=(3,), compression=1)"
        "[0] = ('x',)",
        "datatype",
    ),
    "references": (
        "f.create_dataset('d', (9,), h5py.ref_dtype, chunks=(3,), compression=1)[0] = f.ref",
        "datatype",
    ),
}


@pytest.mark.parametrize("what", NOT_OURS)
def test_others_are_left_to_hdf5(filters: Filters, what: str) -> None:
    text, why = NOT_OURS[what]
    filters.python(FIELD + f"\n    with h5py.File('x.h5', 'w') as f:\n        {text}\n")
    assert filters.counts["chunks_encoded"] == 0
    assert filters.counts["calls_left_to_hdf5"] == filters.counts[f"left_for_{why}"] > 0
    filters.plain("f['d'][...]")


@pytest.mark.parametrize(
    "opening",
    [
        "driver='core'",
        "driver='family', memb_size=100000",
        "fs_strategy='page', page_buf_size=65536",
        "userblock_size=1024",
        "libver='latest'",
    ],
)
def test_drivers_and_formats(filters: Filters, opening: str) -> None:
    filters.python(
        FIELD
        + f"""
    name = "x%d.h5" if "family" in {opening!r} else "x.h5"
    with h5py.File(name, "w", {opening}) as f:
        d = f.create_dataset("d", data=field, chunks=(100, 99), compression=4, fletcher32=True)
        d[50:60, 3] = 9
        field[50:60, 3] = 9
        assert (d[...] == field).all()
        assert (d[333] == field[333]).all()
    again = {opening!r}.split(", fs_")[0]
    options = dict(driver="family", memb_size=100000) if "family" in again else dict()
    with h5py.File(name, **options) as f:
        assert (f["d"][...] == field).all()
    """
    )
    assert filters.counts["chunks_encoded"] > 36


def test_a_late_error_is_told_at_flush_or_close(filters: Filters) -> None:
    """The disk is full when the dirty chunk must go."""
    filters.python(
        """
    import h5py, numpy, resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100000,), "f8", chunks=(50000,), compression=4)
    f.flush()
    d[10:99990] = numpy.random.default_rng(0).random(99980)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    told = []
    for call in (f.flush, f.close):
        try:
            call()
        except (OSError, RuntimeError) as error:
            told.append(str(error))
    assert len(told) >= 1, told
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    """
    )


def test_a_file_that_is_open_for_reading_is_not_written(filters: Filters) -> None:
    filters.python("""
    import h5py
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=[1, 2, 3, 4], chunks=(2,), compression=1)
    with h5py.File("x.h5", "r") as f:
        for where in (0, slice(0, 2), ...):
            try:
                f["d"][where] = 9
            except OSError as error:
                assert "no write intent" in str(error)
            else:
                raise AssertionError(where)
        assert f["d"][:].tolist() == [1, 2, 3, 4]
    """)
    assert filters.counts["chunks_encoded"] == 2


def test_a_committed_datatype_is_not_held_open(filters: Filters) -> None:
    filters.python("""
    import h5py, numpy
    with h5py.File("x.h5", "w") as f:
        f["t"] = numpy.dtype([("a", "i4"), ("b", "f8")])
        made = dict(chunks=(50,), compression=1)
        f.create_dataset("d", (100,), f["t"], **made)[...] = numpy.ones(100, f["t"].dtype)
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 1
        assert f["d"][7:9].tolist() == [(1, 1.0)] * 2
        assert f["d"].id.get_type().committed()
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 1
    """)
    assert filters.counts["chunks_encoded"] == 2


@pytest.mark.parametrize("another", [False, True])
def test_a_chunk_stored_without_its_filter_by_the_program(filters: Filters, another: bool) -> None:
    """As the first thing that is done to a dataset, through its first handle or another one."""
    filters.python(
        f"""
    import h5py, numpy
    raw = numpy.random.default_rng(1).integers(0, 256, 4000).astype("u1")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (8, 4000), "u1", chunks=(1, 4000), compression="gzip")
        for i in range(8):
            one = f["d"] if {another} else d
            one.id.write_direct_chunk((i, 0), raw.tobytes(), filter_mask=1)
        del one
        f.create_dataset("e", data=[1])
        d[1] = numpy.full(4000, 7, "u1")
        f.flush()
        assert (d[1, ::3] == 7).all()
        d[1, ::3] = 8
    """
    )
    assert filters.plain("(f['d'][1, ::3] == 8).all() and (f['d'][1, 1::3] == 7).all()") == "True"


def test_hdf5_refuses_virtual_datasets_among_others_and_two_files(filters: Filters) -> None:
    text = """
    import h5py, numpy
    from random_programs.prelude import together
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=numpy.arange(100), chunks=(10,), compression=1)
        layout = h5py.VirtualLayout((100,), "i8")
        layout[:] = h5py.VirtualSource(d)
        v = f.create_virtual_dataset("v", layout)
        for name in ("H5Dread_multi", "H5Dwrite_multi"):
            e = f.create_dataset(name, data=numpy.arange(100))
            another = h5py.File(name, "w").create_dataset("e", data=numpy.arange(100))
            for datasets in ([d, v], [d, e], [d, another], [another, d]):
                try:
                    together(name, datasets, [numpy.arange(100), numpy.arange(100)])
                    print("done")
                except OSError:
                    print("refused")
    """
    ours, native = (filters.python(text, options).out for options in ("seat=vol;", None))
    assert ours == native
    assert filters.counts["chunks_decoded"] > 0
