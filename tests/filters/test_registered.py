"""Registered filters: the usual plug-ins read what is written here, and the reverse."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from filters.conftest import Filters

FILTERS = {
    "zstd": "hdf5plugin.Zstd()",
    "zstd_fast": "hdf5plugin.Zstd(clevel=-7)",
    "zstd_tight": "hdf5plugin.Zstd(clevel=12)",
    "lz4": "hdf5plugin.LZ4()",
    "lz4_blocks": "hdf5plugin.LZ4(nbytes=1000)",
    "lzf": "'lzf'",
}
# Those that run the plug-ins' own functions: what is stored is HDF5's to the byte.
PLUG_INS = {
    "blosc": "hdf5plugin.Blosc()",
    "blosc_zlib": "hdf5plugin.Blosc(cname='zlib', clevel=4, shuffle=0)",
    "blosc_stored": "hdf5plugin.Blosc(cname='zstd', clevel=0)",
    "blosc2": "hdf5plugin.Blosc2()",
    "blosc2_bits": "hdf5plugin.Blosc2(cname='lz4hc', filters=hdf5plugin.Blosc2.BITSHUFFLE)",
    "bitshuffle": "hdf5plugin.Bitshuffle()",
    "bitshuffle_zstd": "hdf5plugin.Bitshuffle(cname='zstd')",
    "bzip2": "hdf5plugin.BZip2(blocksize=3)",
}
ALL = FILTERS | PLUG_INS

# Chunks at the edges are partial; some do not compress.
ARRAYS = """
    import h5py, hdf5plugin, numpy
    random = numpy.random.default_rng(1)
    smooth = numpy.sin(numpy.add.outer(numpy.arange(150) / 40, numpy.arange(901) / 90))
    arrays = {
        "f4": smooth.astype("f4"),
        "f8": smooth.astype(">f8"),
        "i2": (smooth * 3000).astype("i2"),
        "u1": random.integers(0, 256, (150, 901)).astype("u1"),
        "noise": random.random((150, 901)),
        "zeros": numpy.zeros((150, 901), "i8"),
        "compound": numpy.zeros((150, 901), [("a", "i4"), ("b", "S30")]),
        "text": random.choice(numpy.array([b"", b"ab", b"xyz12"]), (150, 901)),
    }
    arrays["compound"]["a"] = arrays["i2"]
"""
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


@pytest.mark.parametrize("which", ["blosc", "lzf"])
@pytest.mark.parametrize("options", ["seat=vol;", "seat=vol;chunk_cache=0;"])
def test_chunks_that_begin_and_cease_to_compress(
    filters: Filters, which: str, options: str
) -> None:
    """HDF5 stores those that do not, without the filter, and notes it."""
    text = f"""
    import h5py, hdf5plugin, numpy
    random = numpy.random.default_rng(4)
    noise = random.integers(0, 256, (400, 256)).astype("u1")
    model = numpy.zeros_like(noise)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", model.shape, "u1", chunks=(40, 64), compression={ALL[which]})
        d[...] = model
        for step in range(400):
            rows, columns = (slice(*sorted(random.integers(0, n + 1, 2))) for n in model.shape)
            if step % 3:
                rows = slice(rows.start // 40 * 40, -(-rows.stop // 40) * 40)
                columns = slice(columns.start // 64 * 64, -(-columns.stop // 64) * 64)
            noisy = noise[rows, columns]
            value = noisy if random.random() < 0.5 else numpy.full_like(noisy, step % 256)
            d[rows, columns] = model[rows, columns] = value
            if step % 20 == 0:
                assert (d[...] == model).all(), step
        numpy.save("model.npy", model)
    """
    filters.python(text, options)
    assert filters.counts["chunks_left_out"] > 0
    assert filters.counts["chunks_encoded"] > 0
    check = """
    import h5py, hdf5plugin, numpy
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == numpy.load("model.npy")).all()
    """
    filters.python(check, None)
    filters.python(check, options)


def test_a_chunk_that_compresses_again_is_read_at_once(filters: Filters) -> None:
    """HDF5 would go on reading it as it was stored before, had it not stored it itself."""
    filters.python(
        """
    import h5py, hdf5plugin, numpy
    noise = numpy.random.default_rng(4).integers(0, 256, (8, 4000)).astype("u1")
    for compression in (hdf5plugin.Blosc(), "lzf"):
        with h5py.File("x.h5", "w") as f:
            d = f.create_dataset("d", noise.shape, "u1", chunks=(1, 4000), compression=compression)
            d[...] = numpy.zeros_like(noise)
            for value in (noise, noise // 128, noise, noise // 64):
                for i in (1, 1, 2):
                    d[i] = value[i]
                    f.flush()
                    assert (d[i] == value[i]).all()
                for part in (slice(0, 2000), slice(2000, 4000)):  # of a chunk in our cache
                    d[3, part] = value[3, part]
                f.flush()
                assert (d[3, ::3] == value[3, ::3]).all()  # HDF5 reads
    """
    )
    assert filters.counts["chunks_left_out"] > 0


@pytest.mark.parametrize("which", ["blosc", "lzf"])
def test_a_chunk_that_lacks_the_filter_is_read_and_written_in_part(
    filters: Filters, which: str
) -> None:
    """HDF5 remembers how it is stored, so it must not be replaced behind its back."""
    text = f"""
    import h5py, hdf5plugin, numpy
    noise = numpy.random.default_rng(4).integers(0, 256, (8, 4000)).astype("u1")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", noise.shape, "u1", chunks=(1, 4000), compression={ALL[which]})
        d[...] = numpy.zeros_like(noise)
        d[1] = noise[1]
        f.flush()
        assert (d[1, 100:200] == noise[1, 100:200]).all()
        d[1, :3950] = noise[1, :3950] = 7
        f.flush()
        assert (d[1, ::3] == noise[1, ::3]).all()
        d[1, 1::3] = noise[1, 1::3] = 9
        f.flush()
        assert (d[1] == noise[1]).all()
    numpy.save("model.npy", noise[1])
    """
    filters.python(text)
    check = "import h5py, hdf5plugin, numpy\nprint((f['d'][1] == numpy.load('model.npy')).all())"
    assert (
        filters.python(f"import h5py\nf = h5py.File('x.h5')\n{check}", None).out.strip() == b"True"
    )


def test_copies_survive_a_program_that_closes_all_descriptors(filters: Filters) -> None:
    """The loader takes a name it has seen for the library that it loaded then."""
    filters.python(
        """
    import h5py, hdf5plugin, numpy, os
    data = numpy.arange(200000, dtype="i4")
    for name, compression in (("x", hdf5plugin.Blosc()), ("y", hdf5plugin.Bitshuffle()),
                              ("z", hdf5plugin.BZip2())):
        with h5py.File(name + ".h5", "w") as f:
            f.create_dataset("d", data=data, chunks=(20000,), compression=compression)
        os.closerange(3, 1024)
    """
    )
    assert filters.counts["chunks_encoded"] == 30
    filters.python(
        """
    import h5py, hdf5plugin, numpy
    for name in "xyz":
        assert (h5py.File(name + ".h5")["d"][...] == numpy.arange(200000)).all()
    """,
        None,
    )


def test_a_dataset_that_does_not_compress_is_left_alone_in_the_end(filters: Filters) -> None:
    filters.python(
        """
    import h5py, hdf5plugin, numpy
    noise = numpy.random.default_rng(1).integers(0, 256, (100, 4000)).astype("u1")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", noise.shape, "u1", chunks=(1, 4000),
                             compression=hdf5plugin.Blosc())
        for i in range(100):
            d[i] = noise[i]
        assert (d[...] == noise).all()
    """
    )
    assert filters.counts["chunks_left_out"] == 4
    assert filters.counts["left_for_no_gain"] == 96


# In the place of a libhdf5 that the program is linked with: whom its functions are called by.
LIBRARY = """
    #define _GNU_SOURCE
    #include <unistd.h>
    int calls, from_workers;
    static int called(void) {
      ++calls;
      from_workers += gettid() != getpid();
      return 0;
    }
    int H5Epush1() { return called(); }
    int H5Epush2() { return called(); }
"""


def test_workers_call_no_library_that_the_program_is_linked_with(filters: Filters) -> None:
    """The plug-in itself does, to tell of errors, but a copy of it sees its own functions."""
    (filters.folder / "library.c").write_text(LIBRARY)
    compiler = shutil.which("cc")
    assert compiler
    build = [compiler, "-shared", "-fPIC", "-o", "library.so", "library.c"]
    subprocess.run(build, cwd=filters.folder, check=True)
    done = filters.python(
        """
    import ctypes
    library = ctypes.CDLL("./library.so", ctypes.RTLD_GLOBAL)
    import h5py, hdf5plugin, numpy
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=numpy.arange(64000), chunks=(1000,),
                             compression=hdf5plugin.Blosc())
        places = [d.id.get_chunk_info(i).byte_offset for i in range(64)]
    with open("x.h5", "r+b") as file:
        for place in places:
            file.seek(place + 20)
            file.write(bytes([255] * 40))
    with h5py.File("x.h5") as f:
        try:
            f["d"][...]
        except OSError as error:
            print("not read,",
                  *(ctypes.c_int.in_dll(library, name).value for name in ("calls", "from_workers")))
    """
    )
    assert filters.counts["chunks_encoded"] == 64
    assert filters.counts["left_for_error"] == 1
    assert done.out.startswith(b"not read,"), done.text
    calls, from_workers = map(int, done.out.split()[2:])
    assert calls > 0
    assert from_workers == 0


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
