"""Reads of many small chunks: by a map of them, in few requests, and never other than HDF5's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import netCDF4
import numpy as np
import pytest
from harness.build import built
from harness.seed import SEED

if TYPE_CHECKING:
    from harness.layer import Layer
    from harness.prefix import Hdf5

STEPS = 3000


@pytest.mark.share(1)
@pytest.mark.parametrize("seed", range(2))
def test_every_index_filter_and_selection(hdf5: Hdf5, layer: Layer, seed: int) -> None:
    """B-trees of both versions, extensible, fixed and implicit arrays, behind a user block, too."""
    program = built(f"tests/layers/async/small_chunks_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", str(SEED + seed)], limit=120)
    assert done.status == 0, done.text
    assert layer.counted("reads_by_chunk_map") > 100


def write_steps(**how: Any) -> None:
    """Two variables, step by step, as a model does."""
    with h5py.File("x.h5", "w", **how) as f:
        v = f.create_dataset("v", (STEPS, 50), "f8", chunks=(1, 50), maxshape=(None, 50))
        t = f.create_dataset("t", (STEPS,), "f8", chunks=(1,), maxshape=(None,))
        for i in range(STEPS):
            v[i] = i
            t[i] = i


def read_steps(mode: str = "r", **how: Any) -> None:
    with h5py.File("x.h5", mode, **how) as f:
        assert (f["v"][...] == np.arange(STEPS)[:, None]).all()
        assert (f["t"][...] == np.arange(STEPS)).all()


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_few_requests(layer: Layer, mode: str) -> None:
    layer.plain(write_steps)
    layer.python(partial(read_steps, mode))
    assert layer.counted("chunks_read_by_map") == 2 * STEPS
    assert layer.counted("requests_for_chunks_by_map") < STEPS / 50
    assert layer.counted("chunk_maps_made") == 2


def read_in_the_order_of_columns() -> None:
    """The chunks of which were written column by column, so they lie there in that order."""
    values = np.arange(120 * 120).reshape(120, 120)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (120, 120), "i4", chunks=(2, 2))
        for j in range(0, 120, 2):
            for i in range(0, 120, 2):
                d[i : i + 2, j : j + 2] = values[i : i + 2, j : j + 2]
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == values).all()


def test_the_order_in_the_file_is_that_of_the_requests(layer: Layer) -> None:
    layer.python(read_in_the_order_of_columns)
    assert layer.counted("chunks_read_by_map") == 3600
    assert layer.counted("requests_for_chunks_by_map") < 20


def read_slices() -> None:
    with h5py.File("x.h5", rdcc_nbytes=0) as f:  # on a busy machine memory may seem slow
        for i in range(0, STEPS, 100):
            assert (f["v"][i : i + 100] == np.arange(i, i + 100)[:, None]).all()
        f["v"].id.refresh()  # HDF5 reads the index anew
        assert (f["v"][:100] == np.arange(100)[:, None]).all()


def test_slices_share_a_map_once_they_are_a_part_of_all(layer: Layer) -> None:
    layer.plain(write_steps)
    layer.python(read_slices)
    assert layer.counted("chunk_maps_made") == 1
    assert 15 <= layer.counted("reads_by_chunk_map") < 25


def read_single_chunks() -> None:
    with h5py.File("x.h5", "r+") as f:
        for i in range(0, STEPS, 7):
            assert f["t"][i] == i
            f["t"][i] = -i
            f["v"].resize(STEPS + i + 1, axis=0)
            f["v"][STEPS + i] = 7
            assert (f["v"][STEPS - 20 : STEPS] == np.arange(STEPS - 20, STEPS)[:, None]).all()


def test_no_map_for_single_chunks_between_writes(layer: Layer) -> None:
    layer.plain(write_steps)
    layer.python(read_single_chunks)
    assert layer.counted("chunk_maps_made") == 0


def grow_and_read(coded: dict[str, Any]) -> None:
    """Each read sees what was written before it, in the file or in somebody's cache."""
    with h5py.File("x.h5", "w", libver="latest", rdcc_nbytes=20_000) as f:
        model = np.full((500, 12), -1.0)
        d = f.create_dataset(
            "d", (500, 12), "f8", chunks=(1, 5), maxshape=(None, None), fillvalue=-1, **coded
        )
        other = h5py.Dataset(h5py.h5d.open(f.id, b"d"))
        rng = np.random.default_rng(SEED)
        for i in range(60):
            rows, column = np.unique(rng.integers(0, len(model), 9)), int(rng.integers(0, 12))
            values = rng.random(len(rows))
            (d, other)[i % 2][rows, column] = values
            model[rows, column] = values
            if i % 5 == 0:
                more = len(model) + int(rng.integers(-9, 30))
                d.resize(more, axis=0)
                model = np.vstack([model, np.full((99, 12), -1.0)])[:more]
            for one in (d, other):
                assert (one[...] == model).all(), i
                assert (one[::2, 1:] == model[::2, 1:]).all(), i
                assert (one[len(model) // 3 :] == model[len(model) // 3 :]).all(), i


@pytest.mark.share(1)
@pytest.mark.parametrize("coded", [{}, {"compression": 2}, {"fletcher32": True}], ids=str)
def test_what_was_just_written(layer: Layer, coded: dict[str, Any]) -> None:
    layer.python(partial(grow_and_read, coded))
    assert layer.counted("reads_by_chunk_map") > 100


# Where data is not read by our driver alone, or elements are more than their bytes.


def with_page_buffer() -> None:
    write_steps(fs_strategy="page")
    read_steps("r+", page_buf_size=65536)


def with_core() -> None:
    write_steps()
    read_steps("r", driver="core")


def with_family() -> None:
    write_steps()  # so that our driver is there
    with h5py.File("x%d.h5", "w", driver="family", memb_size=100_000) as f:
        f.create_dataset("d", data=np.arange(2000), chunks=(1,))
    with h5py.File("x%d.h5", driver="family", memb_size=100_000) as f:
        assert (f["d"][...] == np.arange(2000)).all()


def with_strings() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=[str(i) for i in range(1000)], chunks=(1,))
        f.create_dataset("r", (500,), h5py.ref_dtype, chunks=(1,))[:] = f.ref
    with h5py.File("x.h5") as f:
        assert f["d"].asstr()[...].tolist() == [str(i) for i in range(1000)]
        assert all(f[one] == f["/"] for one in f["r"][...])


def with_the_descriptor() -> None:
    write_steps()
    with h5py.File("x.h5", "r+") as f:
        f.id.get_vfd_handle()
        assert (f["t"][...] == np.arange(STEPS)).all()


def with_swmr() -> None:
    write_steps(libver="latest")
    read_steps("r", swmr=True)


def with_known_addresses() -> None:
    write_steps()
    with h5py.File("x.h5", "r+") as f:
        place = f["t"].id.get_chunk_info(STEPS // 2)
        f.flush()
        with Path("x.h5").open("r+b") as raw:
            raw.seek(place.byte_offset)
            raw.write(np.float64(7).tobytes())
        assert f["t"][...][STEPS // 2] == 7


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "program",
    [
        with_page_buffer,
        with_core,
        with_family,
        with_strings,
        with_the_descriptor,
        with_swmr,
        with_known_addresses,
    ],
)
def test_left_to_hdf5(layer: Layer, program: Any) -> None:
    layer.python(program)
    assert layer.counted("reads_by_chunk_map") == 0


def spoil() -> None:
    """The B-tree says that a chunk lies beyond the file's end."""
    with h5py.File("x.h5", "w", userblock_size=512) as f:
        f.create_dataset("t", data=np.arange(500.0), chunks=(1,))
        place = f["t"].id.get_chunk_info(300).byte_offset - 512
    with Path("x.h5").open("r+b") as raw:
        bytes_ = raw.read()
        assert bytes_.count(place.to_bytes(8, "little")) == 1
        raw.seek(bytes_.index(place.to_bytes(8, "little")))
        raw.write((1 << 40).to_bytes(8, "little"))


def read_spoiled() -> None:
    with h5py.File("x.h5") as f:
        assert (f["t"][:299] == np.arange(299)).all()
        with pytest.raises(OSError, match="addr overflow"):
            f["t"][...]


def test_errors_are_those_of_hdf5(layer: Layer) -> None:
    layer.plain(spoil)
    layer.plain(read_spoiled)
    layer.python(read_spoiled)
    assert layer.counted("reads_by_chunk_map") == 0


def read_by_netcdf() -> None:
    with netCDF4.Dataset("n.nc", "w") as d:
        d.createDimension("time", None)
        d.createDimension("z", 50)
        v = d.createVariable("v", "f8", ("time", "z"), chunksizes=(1, 50))
        for i in range(500):
            v[i] = i
        assert (v[:] == np.arange(500)[:, None]).all()
    with netCDF4.Dataset("n.nc") as d:
        assert (d["v"][:] == np.arange(500)[:, None]).all()


def test_netcdf(layer: Layer) -> None:
    """By the libhdf5 of its own."""
    layer.python(read_by_netcdf)
    assert layer.counted("reads_by_chunk_map") == 2
