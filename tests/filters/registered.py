"""Registered filters, and arrays to put through them; programs of several tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

# By the classes of hdf5plugin and their arguments.
FILTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "zstd": ("Zstd", {}),
    "zstd_fast": ("Zstd", {"clevel": -7}),
    "zstd_tight": ("Zstd", {"clevel": 12}),
    "lz4": ("LZ4", {}),
    "lz4_blocks": ("LZ4", {"nbytes": 1000}),
    "lzf": ("", {}),  # h5py's own
}
# Those that run the plug-ins' own functions: what is stored is HDF5's to the byte.
PLUG_INS: dict[str, tuple[str, dict[str, Any]]] = {
    "blosc": ("Blosc", {}),
    "blosc_zlib": ("Blosc", {"cname": "zlib", "clevel": 4, "shuffle": 0}),
    "blosc_stored": ("Blosc", {"cname": "zstd", "clevel": 0}),
    "blosc2": ("Blosc2", {}),
    "blosc2_bits": ("Blosc2", {"cname": "lz4hc", "filters": hdf5plugin.Blosc2.BITSHUFFLE}),
    "bitshuffle": ("Bitshuffle", {}),
    "bitshuffle_zstd": ("Bitshuffle", {"cname": "zstd"}),
    "bzip2": ("BZip2", {"blocksize": 3}),
}
ALL = FILTERS | PLUG_INS


def compression(which: str) -> Any:
    """What h5py's create_dataset takes."""
    name, arguments = ALL[which]
    return getattr(hdf5plugin, name)(**arguments) if name else which


def find_plug_ins() -> None:
    """HDF5 finds them in a program that has imported hdf5plugin."""
    assert hdf5plugin.PLUGIN_PATH


def make_arrays() -> dict[str, Any]:
    """Chunks at their edges are partial; some do not compress."""
    random = np.random.default_rng(1)
    smooth = np.sin(np.add.outer(np.arange(150) / 40, np.arange(901) / 90))
    arrays: dict[str, Any] = {
        "f4": smooth.astype("f4"),
        "f8": smooth.astype(">f8"),
        "i2": (smooth * 3000).astype("i2"),
        "u1": random.integers(0, 256, (150, 901)).astype("u1"),
        "noise": random.random((150, 901)),
        "zeros": np.zeros((150, 901), "i8"),
        "compound": np.zeros((150, 901), [("a", "i4"), ("b", "S30")]),
        "text": random.choice(np.array([b"", b"ab", b"xyz12"]), (150, 901)),
    }
    arrays["compound"]["a"] = arrays["i2"]
    return arrays


def print_sums_around(before: int, behind: int, within: int) -> None:
    """Of what is before and behind a damaged chunk; then what reads of that end with."""
    with h5py.File("x.h5") as f:
        d = f["d"]
        print(float(d[:before].sum()), float(d[behind:].sum()))
        for what in (slice(None), within):
            try:
                print(float(d[what].sum()))
            except OSError as error:
                print(error)


def spoil(place: int, size: int) -> None:
    """Bytes of x.h5."""
    with Path("x.h5").open("r+b") as file:
        file.seek(place)
        found = file.read(size)
        file.seek(place)
        file.write(bytes(byte ^ 0x5A for byte in found))
