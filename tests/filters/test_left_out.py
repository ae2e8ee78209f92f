"""Chunks that do not compress: HDF5 stores them without the filter, and so does the layer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import h5py
import hdf5plugin
import numpy as np
import pytest
from filters.registered import compression, find_plug_ins

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.plain  # copies are loaded by RTLD_DEEPBIND


def write_noise_here_and_there(which: str) -> None:
    random = np.random.default_rng(4)
    noise = random.integers(0, 256, (400, 256)).astype("u1")
    model = np.zeros_like(noise)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset(
            "d", model.shape, "u1", chunks=(40, 64), compression=compression(which)
        )
        d[...] = model
        for step in range(400):
            rows, columns = (slice(*sorted(random.integers(0, n + 1, 2))) for n in model.shape)
            if step % 3:
                rows = slice(rows.start // 40 * 40, -(-rows.stop // 40) * 40)
                columns = slice(columns.start // 64 * 64, -(-columns.stop // 64) * 64)
            noisy = noise[rows, columns]
            value = noisy if random.random() < 0.5 else np.full_like(noisy, step % 256)
            d[rows, columns] = model[rows, columns] = value
            if step % 20 == 0:
                assert (d[...] == model).all(), step
        np.save("model.npy", model)


def require_model() -> None:
    find_plug_ins()
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == np.load("model.npy")).all()


@pytest.mark.parametrize("which", ["blosc", "lzf"])
@pytest.mark.parametrize("options", ["seat=vol;", "seat=vol;chunk_cache=0;"])
def test_chunks_that_begin_and_cease_to_compress(filters: Layer, which: str, options: str) -> None:
    """HDF5 stores those that do not, without the filter, and notes it."""
    filters.python(partial(write_noise_here_and_there, which), options)
    assert filters.counted("chunks_left_out") > 0
    assert filters.counted("chunks_encoded") > 0
    filters.plain(require_model)
    filters.python(require_model, options)


def write_noise_and_less() -> None:
    noise = np.random.default_rng(4).integers(0, 256, (8, 4000)).astype("u1")
    for filters in (hdf5plugin.Blosc(), "lzf"):
        with h5py.File("x.h5", "w") as f:
            d = f.create_dataset("d", noise.shape, "u1", chunks=(1, 4000), compression=filters)
            d[...] = np.zeros_like(noise)
            for value in (noise, noise // 128, noise, noise // 64):
                for i in (1, 1, 2):
                    d[i] = value[i]
                    f.flush()
                    assert (d[i] == value[i]).all()
                for part in (slice(0, 2000), slice(2000, 4000)):  # of a chunk in our cache
                    d[3, part] = value[3, part]
                f.flush()
                assert (d[3, ::3] == value[3, ::3]).all()  # HDF5 reads


def test_a_chunk_that_compresses_again_is_read_at_once(filters: Layer) -> None:
    """HDF5 would go on reading it as it was stored before, had it not stored it itself."""
    filters.python(write_noise_and_less)
    assert filters.counted("chunks_left_out") > 0


def change_parts_of_noise(which: str) -> None:
    noise = np.random.default_rng(4).integers(0, 256, (8, 4000)).astype("u1")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset(
            "d", noise.shape, "u1", chunks=(1, 4000), compression=compression(which)
        )
        d[...] = np.zeros_like(noise)
        d[1] = noise[1]
        f.flush()
        assert (d[1, 100:200] == noise[1, 100:200]).all()
        d[1, :3950] = noise[1, :3950] = 7
        f.flush()
        assert (d[1, ::3] == noise[1, ::3]).all()
        d[1, 1::3] = noise[1, 1::3] = 9
        f.flush()
        assert (d[1] == noise[1]).all()
    np.save("model.npy", noise[1])


def require_model_in_row_1() -> None:
    find_plug_ins()
    with h5py.File("x.h5") as f:
        assert (f["d"][1] == np.load("model.npy")).all()


@pytest.mark.parametrize("which", ["blosc", "lzf"])
def test_a_chunk_that_lacks_the_filter_is_read_and_written_in_part(
    filters: Layer, which: str
) -> None:
    """HDF5 remembers how it is stored, so it must not be replaced behind its back."""
    filters.python(partial(change_parts_of_noise, which))
    filters.plain(require_model_in_row_1)


def write_noise_by_rows() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (100, 4000)).astype("u1")
    blosc = hdf5plugin.Blosc()
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", noise.shape, "u1", chunks=(1, 4000), compression=blosc)
        for i in range(100):
            d[i] = noise[i]
        assert (d[...] == noise).all()


def test_a_dataset_that_does_not_compress_is_left_alone_in_the_end(filters: Layer) -> None:
    filters.python(write_noise_by_rows)
    assert filters.counted("chunks_left_out") == 4
    assert filters.counted("left_for_no_gain") == 96
