"""Registered filters, and arrays to put through them."""

from __future__ import annotations

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
