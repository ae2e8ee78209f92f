"""Large asynchronous reads are carried out by the workers, beside the program."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built

if TYPE_CHECKING:
    from pathlib import Path

    from harness.layer import Layer
    from harness.prefix import Hdf5
    from harness.run import Result

pytestmark = pytest.mark.threads

ROWS, LARGE = 48, 65536


def requests(layer: Layer, hdf5: Hdf5, *words: str) -> Result:
    program = built(f"tests/layers/async/large_requests_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", *words], limit=120)
    assert done.status == 0, done.text
    return done


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("what", "behind"), [("large", "read_behind_bytes"), ("large_chunks", "chunks_decoded_behind")]
)
def test_large_reads_go_on_beside_the_program(
    hdf5: Hdf5, layer: Layer, seed: int, what: str, behind: str
) -> None:
    requests(layer, hdf5, what, str(seed))
    assert layer.counted(behind) > 0


def damaged(folder: Path, *, odd: bool = False) -> None:
    """A file with the datasets d, whose chunk 20 is damaged, and e, of which it may be odd."""
    data = np.arange(ROWS * LARGE, dtype="int32").reshape(ROWS, LARGE)
    shape = {"chunks": (1, LARGE), "maxshape": (None, LARGE)}
    with h5py.File(folder / "x.h5", "w") as file:
        for name in ("d", "e"):
            file.create_dataset(name, data=data, compression="gzip", **shape)
        if odd:
            longer = zlib.compress(data[20].tobytes() + bytes(4))
            file["e"].id.write_direct_chunk((20, 0), longer)
        place = file["d"].id.get_chunk_info(20).byte_offset
    with (folder / "x.h5").open("r+b") as raw:
        raw.seek(place + 1000)
        raw.write(bytes(100))


WAYS = ["damaged", "damaged_closed", "damaged_written", "damaged_shrunk"]


@pytest.mark.parametrize("what", WAYS)
def test_a_damaged_chunk_fails_its_request(hdf5: Hdf5, layer: Layer, what: str) -> None:
    """What cannot be decoded behind the program HDF5 reads itself, and tells what is wrong."""
    damaged(layer.folder)
    done = requests(layer, hdf5, what)
    assert layer.counted("chunks_decoded_behind") == 2 * ROWS
    assert "filter" in done.out.decode(), done.text


@pytest.mark.parametrize("what", WAYS)
def test_a_chunk_of_another_size_is_read_by_hdf5(hdf5: Hdf5, layer: Layer, what: str) -> None:
    """HDF5 reads a chunk that holds more than its elements; the codecs here do not."""
    damaged(layer.folder, odd=True)
    requests(layer, hdf5, what)


def test_another_dataset_takes_the_place_of_one_that_is_read(hdf5: Hdf5, layer: Layer) -> None:
    data = np.arange(ROWS * LARGE, dtype="int32").reshape(ROWS, LARGE)
    with h5py.File(layer.folder / "x.h5", "w") as file:
        file.create_dataset("d", data=data, chunks=(1, LARGE), compression="gzip")
    requests(layer, hdf5, "deleted")
    assert layer.counted("chunks_decoded_behind") > ROWS
    with h5py.File(layer.folder / "x.h5") as file:
        assert np.array_equal(file["d"][...], data)
