"""Chunks that do not compress: HDF5 stores them without the filter, and so does the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from filters.registered import ALL

if TYPE_CHECKING:
    from filters.conftest import Filters


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
