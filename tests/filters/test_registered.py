"""Registered filters: the usual plug-ins read what is written here, and the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from filters.registered import ALL, ARRAYS, PLUG_INS

if TYPE_CHECKING:
    from filters.conftest import Filters

WRITE = """
    with h5py.File("x.h5", "w") as f:
        for name, array in arrays.items():
            for shuffle in (False, True):
                for fletcher32 in (False, True):
                    f.create_dataset(f"{{name}}/{{shuffle}}{{fletcher32}}", data=array,
                                     chunks=(100, 300), compression={filter},
                                     shuffle=shuffle, fletcher32=fletcher32)
"""
READ = """
    with h5py.File("x.h5") as f:
        for name, array in arrays.items():
            for dataset in f[name].values():
                assert dataset[...].tobytes() == array.tobytes(), dataset.name
                assert (dataset[90:103, 7] == array[90:103, 7]).all()
"""
CHUNKS = 8 * 4 * 8


@pytest.mark.parametrize("which", ALL)
def test_plug_ins_read_what_is_written(filters: Filters, which: str) -> None:
    filters.python(ARRAYS + WRITE.format(filter=ALL[which]))
    assert filters.counts["chunks_encoded"] + filters.counts["chunks_left_out"] == CHUNKS
    assert filters.counts["chunks_encoded"] > CHUNKS / 2 or which == "blosc_stored"
    assert filters.counts["calls_left_to_hdf5"] == 0
    filters.python(ARRAYS + READ, None)


@pytest.mark.parametrize("which", ALL)
def test_what_plug_ins_write_is_read(filters: Filters, which: str) -> None:
    filters.python(ARRAYS + WRITE.format(filter=ALL[which]), None)
    filters.python(ARRAYS + READ)
    assert filters.counts["chunks_decoded"] >= CHUNKS
    assert filters.counts["calls_left_to_hdf5"] == 0


STORED = """
    import hashlib
    with h5py.File("x.h5") as f:
        for name in arrays:
            for dataset in f[name].values():
                stored = [
                    dataset.id.read_direct_chunk(dataset.id.get_chunk_info(i).chunk_offset)
                    for i in range(dataset.id.get_num_chunks())
                ]
                print(dataset.name, [(mask, hashlib.sha1(b).hexdigest()) for mask, b in stored])
"""


@pytest.mark.parametrize("which", PLUG_INS)
def test_plug_ins_store_what_they_do_under_hdf5(filters: Filters, which: str) -> None:
    write = ARRAYS + WRITE.format(filter=PLUG_INS[which])
    ours, native = (
        (filters.python(write, options), filters.python(ARRAYS + STORED, None).out)[1]
        for options in ("seat=vol;", None)
    )
    assert ours == native
    assert filters.counts["chunks_encoded"] + filters.counts["chunks_left_out"] == CHUNKS


def test_a_lossy_filter_loses_what_it_does_under_hdf5(filters: Filters) -> None:
    """Of an array with partial chunks, which the filter pads in its own way."""
    write = """
    import h5py, hdf5plugin, numpy
    field = numpy.sin(numpy.add.outer(numpy.arange(150) / 40, numpy.arange(901) / 90)).astype("f4")
    arrays = {"f": field, "d": field.astype("f8"), "i": (field * 1e6).astype("i4")}
    with h5py.File("x.h5", "w") as f:
        for name, array in arrays.items():
            modes = [{"rate": 8}, {"reversible": True}] if name == "i" else [
                {"accuracy": 1e-3}, {"precision": 12}, {"reversible": True}]
            for i, mode in enumerate(modes):
                f.create_dataset(f"{name}/{i}", data=array, chunks=(100, 300),
                                 compression=hdf5plugin.Zfp(**mode))
    """
    read = """
    for name in arrays:
        for dataset in h5py.File("x.h5")[name].values():
            print(dataset.name, hashlib.sha1(dataset[...].tobytes()).hexdigest())
    """
    seen = set()
    for options in ("seat=vol;", None):
        filters.python(write, options)
        again = write.partition("with h5py")[0] + STORED + read
        seen.add(filters.python(again, None).out)
        seen.add(filters.python(again).out)
    assert len(seen) == 1
    assert filters.counts["chunks_encoded"] == 8 * 8
    assert filters.counts["chunks_decoded"] == 2 * 8 * 8
    assert filters.counts["calls_left_to_hdf5"] == 0


@pytest.mark.parametrize("which", ["zstd", "lz4", "lzf", "blosc", "bitshuffle"])
def test_parts_of_chunks(filters: Filters, which: str) -> None:
    filters.python(
        ARRAYS
        + f"""
    field = arrays["f4"]
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (0, 901), "f4", maxshape=(None, 901), chunks=(40, 500),
                             compression={ALL[which]}, fletcher32=True)
        for i in range(150):
            d.resize(i + 1, axis=0)
            d[i] = field[i]
        d[30:60, 490:510] = 7
        assert (d[:, 3] == field[:, 3]).all()
    """
    )
    assert filters.counts["chunks_encoded"] >= 8
    check = """
    import h5py, hdf5plugin
    d = h5py.File("x.h5")["d"]
    print((d[30:60, 490:510] == 7).all(), float(d[149, 900]), float(d[:30].sum()))
    """
    ours, native = (filters.python(check, options).out for options in ("seat=vol;", None))
    assert ours == native
    assert ours.startswith(b"True")


@pytest.mark.parametrize(
    ("which", "fletcher32", "begin"),
    [(which, True, "where.size // 2") for which in ("zstd", "lz4", "lzf", "blosc", "blosc2")]
    + [(which, False, "where.size // 2") for which in ("zstd", "lz4", "lzf", "bitshuffle")]
    + [("zstd", False, "0")],
)
def test_damaged_chunks_end_as_they_do_natively(
    filters: Filters, which: str, fletcher32: bool, begin: str
) -> None:
    """Without a checksum many an error is not found by anyone."""
    filters.python(
        ARRAYS
        + f"""
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=arrays["f4"], chunks=(50, 901), compression={ALL[which]},
                             fletcher32={fletcher32})
        where = d.id.get_chunk_info(1)
    bytes = bytearray(open("x.h5", "rb").read())
    for i in range(200):
        bytes[where.byte_offset + {begin} + i] ^= 0x5a
    open("x.h5", "wb").write(bytes)
    """
    )
    read = """
    import h5py, hdf5plugin
    with h5py.File("x.h5") as f:
        print(float(f["d"][:50].sum()), float(f["d"][100:].sum()))
        for what in (slice(None), 70):
            try:
                print(float(f["d"][what].sum()))
            except OSError as error:
                print(error)
    """
    native = filters.python(read, None)
    ours = filters.python(read)
    assert ours.out == native.out
    if fletcher32 or begin == "0":
        assert ours.out.count(b"Can't synchronously read data") == 2
    assert filters.counts["chunks_decoded"] > 0


# Pairs of a filter's number and its parameters, each in a pipeline of its own.
NOT_OURS = {
    "another_filter": [(32018, (8, 8, 0))],  # fcidecomp
    "zstd_with_two_parameters": [(32015, (3, 0))],
    "zstd_twice": [(32015, (3,)), (32015, (3,))],
    "zstd_and_deflate": [(32015, (3,)), (1, (4,))],
    "zstd_of_no_level": [(32015, (23,))],
    "lz4_with_two_parameters": [(32004, (0, 4))],
    "blosc_and_zstd": [(32001, (2, 2, 4, 120000, 5, 1, 0)), (32015, (3,))],
    "lzf_of_another_version": [(32000, (5, 0x0105, 120000))],
}


@pytest.mark.parametrize("which", NOT_OURS)
def test_what_is_not_understood_is_left_to_the_plug_in(filters: Filters, which: str) -> None:
    filters.python(
        ARRAYS
        + f"""
    from h5py import h5d, h5f, h5p, h5s, h5t
    array = arrays["f4"]
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk((100, 300))
    for number, parameters in {NOT_OURS[which]!r}:
        dcpl.set_filter(number, 0, parameters)
    f = h5f.create(b"x.h5")
    d = h5d.create(f, b"d", h5t.NATIVE_FLOAT, h5s.create_simple(array.shape), dcpl)
    d.write(h5s.ALL, h5s.ALL, array)
    assert (h5py.Dataset(d)[...] == array).all()
    """
    )
    assert filters.counts["chunks_encoded"] == filters.counts["chunks_decoded"] == 0
    assert filters.counts["calls_left_to_hdf5"] > 0
