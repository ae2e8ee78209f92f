"""Registered filters: the usual plug-ins read what is written here, and the reverse."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import hdf5plugin
import numpy as np
import pytest
from filters.registered import (
    ALL,
    PLUG_INS,
    compression,
    find_plug_ins,
    make_arrays,
    print_sums_around,
    spoil,
)
from h5py import h5d, h5f, h5p, h5s, h5t

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.plain  # copies are loaded by RTLD_DEEPBIND

CHUNKS = 8 * 4 * 8


def write_arrays(which: str) -> None:
    with h5py.File("x.h5", "w") as f:
        for name, array in make_arrays().items():
            for shuffle in (False, True):
                for fletcher32 in (False, True):
                    f.create_dataset(
                        f"{name}/{shuffle}{fletcher32}",
                        data=array,
                        chunks=(100, 300),
                        compression=compression(which),
                        shuffle=shuffle,
                        fletcher32=fletcher32,
                    )


def require_arrays() -> None:
    find_plug_ins()
    with h5py.File("x.h5") as f:
        for name, array in make_arrays().items():
            for dataset in f[name].values():
                assert dataset[...].tobytes() == array.tobytes(), dataset.name
                assert (dataset[90:103, 7] == array[90:103, 7]).all()


@pytest.mark.share(8)
@pytest.mark.parametrize("which", ALL)
def test_plug_ins_read_what_is_written(filters: Layer, which: str) -> None:
    filters.python(partial(write_arrays, which))
    assert filters.counted("chunks_encoded") + filters.counted("chunks_left_out") == CHUNKS
    assert filters.counted("chunks_encoded") > CHUNKS / 2 or which == "blosc_stored"
    assert filters.counted("calls_left_to_hdf5") == 0
    filters.plain(require_arrays)


@pytest.mark.share(6)
@pytest.mark.parametrize("which", ALL)
def test_what_plug_ins_write_is_read(filters: Layer, which: str) -> None:
    filters.plain(partial(write_arrays, which))
    filters.python(require_arrays)
    assert filters.counted("chunks_decoded") >= CHUNKS
    assert filters.counted("calls_left_to_hdf5") == 0


def print_stored_bytes() -> None:
    """Each chunk's mask and digest."""
    with h5py.File("x.h5") as f:
        for group in f.values():
            for dataset in group.values():
                stored = [
                    dataset.id.read_direct_chunk(dataset.id.get_chunk_info(i).chunk_offset)
                    for i in range(dataset.id.get_num_chunks())
                ]
                digests = [(mask, hashlib.sha256(raw).hexdigest()) for mask, raw in stored]
                print(dataset.name, digests)


@pytest.mark.share(3)
@pytest.mark.parametrize("which", PLUG_INS)
def test_plug_ins_store_what_they_do_under_hdf5(filters: Layer, which: str) -> None:
    filters.python(partial(write_arrays, which))
    ours = filters.plain(print_stored_bytes)
    filters.plain(partial(write_arrays, which))
    assert ours == filters.plain(print_stored_bytes)
    assert ours.count("\n") == 8 * 4 - 1
    assert filters.counted("chunks_encoded") + filters.counted("chunks_left_out") == CHUNKS


LOSSY_MODES: dict[str, list[dict[str, Any]]] = {
    "f4": [{"accuracy": 1e-3}, {"precision": 12}, {"reversible": True}],
    "f8": [{"accuracy": 1e-3}, {"precision": 12}, {"reversible": True}],
    "i4": [{"rate": 8}, {"reversible": True}],
}


def write_lossy() -> None:
    field = np.sin(np.add.outer(np.arange(150) / 40, np.arange(901) / 90)).astype("f4")
    arrays = {"f4": field, "f8": field.astype("f8"), "i4": (field * 1e6).astype("i4")}
    with h5py.File("x.h5", "w") as f:
        for name, modes in LOSSY_MODES.items():
            for i, mode in enumerate(modes):
                zfp = hdf5plugin.Zfp(**mode)
                f.create_dataset(
                    f"{name}/{i}", data=arrays[name], chunks=(100, 300), compression=zfp
                )


def print_stored_bytes_and_values() -> None:
    find_plug_ins()
    print_stored_bytes()
    with h5py.File("x.h5") as f:
        for group in f.values():
            for dataset in group.values():
                print(dataset.name, hashlib.sha256(dataset[...].tobytes()).hexdigest())


def test_a_lossy_filter_loses_what_it_does_under_hdf5(filters: Layer) -> None:
    """Of an array with partial chunks, which the filter pads in its own way."""
    seen = set()
    for options in ("seat=vol;", None):
        filters.python(write_lossy, options)
        seen.add(filters.python(print_stored_bytes_and_values, None).out)
        seen.add(filters.python(print_stored_bytes_and_values).out)
    assert len(seen) == 1
    assert filters.counted("chunks_encoded") == 8 * 8
    assert filters.counted("chunks_decoded") == 2 * 8 * 8
    assert filters.counted("calls_left_to_hdf5") == 0


def append_rows(which: str) -> None:
    field = make_arrays()["f4"]
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset(
            "d",
            (0, 901),
            "f4",
            maxshape=(None, 901),
            chunks=(40, 500),
            compression=compression(which),
            fletcher32=True,
        )
        for i in range(150):
            d.resize(i + 1, axis=0)
            d[i] = field[i]
        d[30:60, 490:510] = 7
        assert (d[:, 3] == field[:, 3]).all()


def print_parts() -> None:
    find_plug_ins()
    d = h5py.File("x.h5")["d"]
    print((d[30:60, 490:510] == 7).all(), float(d[149, 900]), float(d[:30].sum()))


@pytest.mark.parametrize("which", ["zstd", "lz4", "lzf", "blosc", "bitshuffle"])
def test_parts_of_chunks(filters: Layer, which: str) -> None:
    filters.python(partial(append_rows, which))
    assert filters.counted("chunks_encoded") >= 8
    ours, native = (filters.python(print_parts, options).out for options in ("seat=vol;", None))
    assert ours == native
    assert ours.startswith(b"True")


def write_and_spoil(which: str, fletcher32: bool, at_begin: bool) -> None:
    data = make_arrays()["f4"]
    more = {"compression": compression(which), "fletcher32": fletcher32}
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=data, chunks=(50, 901), **more)
        where = d.id.get_chunk_info(1)
    spoil(where.byte_offset + (0 if at_begin else where.size // 2), 200)


def print_sums_by_plug_ins() -> None:
    find_plug_ins()
    print_sums_around(50, 100, 70)


@pytest.mark.share(5)
@pytest.mark.parametrize(
    ("which", "fletcher32", "at_begin"),
    [(which, True, False) for which in ("zstd", "lz4", "lzf", "blosc", "blosc2")]
    + [(which, False, False) for which in ("zstd", "lz4", "lzf", "bitshuffle")]
    + [("zstd", False, True)],
)
def test_damaged_chunks_end_as_they_do_natively(
    filters: Layer, which: str, fletcher32: bool, at_begin: bool
) -> None:
    """Without a checksum many an error is not found by anyone."""
    filters.python(partial(write_and_spoil, which, fletcher32, at_begin))
    native = filters.python(print_sums_by_plug_ins, None)
    ours = filters.python(print_sums_by_plug_ins)
    assert ours.out == native.out
    if fletcher32 or at_begin:
        assert ours.out.count(b"Can't synchronously read data") == 2
    assert filters.counted("chunks_decoded") > 0


# Pairs of a filter's number and its parameters, each in a pipeline of its own.
NOT_OURS: dict[str, list[tuple[int, tuple[int, ...]]]] = {
    "another_filter": [(32018, (8, 8, 0))],  # fcidecomp
    "zstd_with_two_parameters": [(32015, (3, 0))],
    "zstd_twice": [(32015, (3,)), (32015, (3,))],
    "zstd_and_deflate": [(32015, (3,)), (1, (4,))],
    "zstd_of_no_level": [(32015, (23,))],
    "lz4_with_two_parameters": [(32004, (0, 4))],
    "blosc_and_zstd": [(32001, (2, 2, 4, 120000, 5, 1, 0)), (32015, (3,))],
    "lzf_of_another_version": [(32000, (5, 0x0105, 120000))],
}


def write_through(pipeline: list[tuple[int, tuple[int, ...]]]) -> None:
    find_plug_ins()
    array = make_arrays()["f4"]
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk((100, 300))
    for number, parameters in pipeline:
        dcpl.set_filter(number, 0, parameters)
    f = h5f.create(b"x.h5")
    d = h5d.create(f, b"d", h5t.NATIVE_FLOAT, h5s.create_simple(array.shape), dcpl)
    d.write(h5s.ALL, h5s.ALL, array)
    assert (h5py.Dataset(d)[...] == array).all()


@pytest.mark.parametrize("which", NOT_OURS)
def test_what_is_not_understood_is_left_to_the_plug_in(filters: Layer, which: str) -> None:
    filters.python(partial(write_through, NOT_OURS[which]))
    assert filters.counted("chunks_encoded") == filters.counted("chunks_decoded") == 0
    assert filters.counted("calls_left_to_hdf5") > 0
