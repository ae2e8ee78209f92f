"""How raw data lies in the file: layouts, chunk indexes, filters, fill values, extents."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

from corpus.registry import in_each_format, in_file

ALLOCATION = {
    "early": h5d.ALLOC_TIME_EARLY,
    "late": h5d.ALLOC_TIME_LATE,
    "incremental": h5d.ALLOC_TIME_INCR,
}
FILL_TIME = {
    "alloc": h5d.FILL_TIME_ALLOC,
    "never": h5d.FILL_TIME_NEVER,
    "ifset": h5d.FILL_TIME_IFSET,
}


def low_level(
    file: h5py.File, name: str, shape: tuple[int, ...], plist: Any, **more: Any
) -> h5py.Dataset:
    space = h5s.create_simple(shape, more.get("maxshape", shape))
    made = h5d.create(file.id, name.encode(), more.get("kind", h5t.STD_I32LE), space, plist)
    return h5py.Dataset(made)


@in_each_format("layouts")
def layouts(file: h5py.File) -> None:
    for allocation, when in ALLOCATION.items():
        for layout in (h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED):
            if layout == h5d.COMPACT and allocation != "early":
                continue  # compact data is part of the header
            plist = h5p.create(h5p.DATASET_CREATE)
            plist.set_layout(layout)
            if layout == h5d.CHUNKED:
                plist.set_chunk((4, 3))
            plist.set_alloc_time(when)
            name = f"{layout}_{allocation}"
            low_level(file, name, (10, 7), plist)[2:9, 1:6] = np.arange(35).reshape(7, 5)
            low_level(file, f"{name}_untouched", (10, 7), plist)


@in_each_format("chunk_indexes")
def chunk_indexes(file: h5py.File) -> None:
    """Format 1.10 and later choose the index by extents and allocation; older ones a B-tree v1."""
    cases: dict[str, tuple[tuple[int, ...], tuple[int | None, ...], tuple[int, ...]]] = {
        "single": ((6, 5), (6, 5), (6, 5)),
        "fixed_array": ((40, 30), (40, 30), (4, 7)),
        "fixed_array_paged": ((3000,), (3000,), (2,)),
        "extensible_array": ((50, 4), (None, 4), (3, 2)),
        "extensible_array_big": ((3000,), (None,), (1,)),
        "btree": ((20, 10), (None, None), (6, 4)),
        "btree_deep": ((60, 60), (None, None), (2, 1)),
    }
    for name, (shape, most, chunks) in cases.items():
        data = np.arange(np.prod(shape), dtype="<i2").reshape(shape)
        for filters in ({}, {"compression": 1, "shuffle": True}):
            made = file.create_dataset(
                f"{name}{'_filtered' if filters else ''}", shape, "<i2",
                maxshape=most, chunks=chunks, **filters,
            )  # fmt: skip
            made[...] = data
            if None in most:
                made.resize(shape[0] + 5, axis=0)
    sparse = file.create_dataset("sparse", (90, 90), "u1", chunks=(10, 10))
    sparse[5, 5], sparse[85, 85] = 1, 2
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((2, 3))
    plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    low_level(file, "implicit", (7, 8), plist)[1:, 1:] = 3


@in_each_format("filters")
def filters(file: h5py.File) -> None:
    data = (np.arange(600) % 97).reshape(20, 30)
    pipelines: dict[str, dict[str, Any]] = {
        "deflate": {"compression": "gzip", "compression_opts": 6},
        "shuffle": {"shuffle": True},
        "fletcher32": {"fletcher32": True},
        "scaleoffset_int": {"scaleoffset": 0},
        "all": {"compression": 4, "shuffle": True, "fletcher32": True},
        "lzf": {"compression": "lzf"},  # h5py's own: other programs lack it
    }
    for name, options in pipelines.items():
        made = file.create_dataset(name, data.shape, "<i4", chunks=(7, 11), **options)
        made[...] = data
    file.create_dataset("scaleoffset_float", data=data / 8, chunks=(7, 11), scaleoffset=3)
    masked = file.create_dataset("filter_mask", (8,), "<i4", chunks=(4,), compression=1)
    masked.id.write_direct_chunk((4,), np.arange(4, dtype="<i4").tobytes(), filter_mask=1)
    narrow = h5t.STD_I32LE.copy()
    narrow.set_precision(19)  # HDF5 refuses types with more unused than used bits
    for name, number in (("nbit", h5z.FILTER_NBIT), ("szip", h5z.FILTER_SZIP)):
        if number == h5z.FILTER_SZIP and not h5z.filter_avail(number):
            continue
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((5, 10))
        if name == "nbit":
            plist.set_filter(number, 0, ())
        else:
            plist.set_szip(h5z.SZIP_NN_OPTION_MASK, 8)
        kind = narrow if name == "nbit" else h5t.STD_U16BE
        low_level(file, name, data.shape, plist, kind=kind)[...] = data


@in_each_format("fill_values")
def fill_values(file: h5py.File) -> None:
    record = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S4")])
    values: dict[str, tuple[Any, Any]] = {
        "integer": ("<i4", -7), "float": (">f8", float("nan")), "string": ("S5", b"fill"),
        "record": (record, np.array((3, 0.5, b"abc"), record)), "none": ("u1", None),
    }  # fmt: skip
    for name, (kind, value) in values.items():
        for chunks in (None, (3,)):
            stem = f"{name}_{'chunked' if chunks else 'contiguous'}"
            made = file.create_dataset(stem, (8,), kind, chunks=chunks, fillvalue=value)
            made[1] = made[0]
    for time, code in FILL_TIME.items():
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_alloc_time(h5d.ALLOC_TIME_LATE)
        plist.set_fill_time(code)
        plist.set_fill_value(np.array(42, "<i4"))
        made = low_level(file, f"at_{time}", (5,), plist)
        if time == "never":
            made[...] = 1  # unwritten, a reader would see whatever is in its memory


@in_file("extents.h5")
def extents(file: h5py.File) -> None:
    file["null"] = h5py.Empty("<f4")
    file.attrs["null"] = h5py.Empty("S3")
    file["scalar"] = np.int16(9)
    file["empty"] = np.zeros((0, 4), "u1")
    file.create_dataset("unlimited_and_empty", (0, 2), "f4", maxshape=(None, None))
    for rank in (1, 2, 3, 5, 32):
        twos = min(rank, 4)
        file[f"rank_{rank}"] = np.arange(2**twos).reshape((2,) * twos + (1,) * (rank - twos))
    file.create_dataset("grown", (3, 3), "i4", maxshape=(10, None), chunks=(2, 2))[...] = 1
    file["grown"].resize((2, 7))
