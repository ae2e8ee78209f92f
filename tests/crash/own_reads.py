"""Reads and writes the bytes of an HDF5 file past HDF5, as programs do that know where they are.

Runs every case in a folder of its own and prints, as JSON, what went wrong in which. Natively
nothing does: each case relies only on what HDF5 has handed to the system by then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
import zlib
from pathlib import Path

import h5py
import netCDF4
import numpy as np

# Chunks are larger than the chunk cache, so that HDF5 writes them in the call.
CHUNK_CACHE = 1 << 20
ROWS, COLUMNS = 1024, 1024
NAME = "x.h5"


def padded(name: str = NAME) -> h5py.File:
    """A new file with more in it than a layer writes without a copy."""
    file = h5py.File(name, "w", rdcc_nbytes=CHUNK_CACHE)
    file["padding"] = np.zeros(4 << 20)
    return file


def stored(offset: int, count: int, kind: str = "i4") -> np.ndarray:
    """Elements of the file, by the system alone."""
    with Path(NAME).open("rb") as file:
        return np.fromfile(file, kind, count, offset=offset)


def same(found: np.ndarray, wanted: np.ndarray | int, what: str) -> None:
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape)), f"{what}: {found}"


def chunked(file: h5py.File) -> h5py.Dataset:
    return file.create_dataset("c", (4 * ROWS, COLUMNS), "i4", chunks=(ROWS, COLUMNS))


def chunk_info() -> None:
    with padded() as file:
        data = chunked(file)
        data[...] = 1
        place = data.id.get_chunk_info(2).byte_offset
        same(stored(place, ROWS * COLUMNS), 1, "as told")
        data[...] = 2
        same(stored(place, ROWS * COLUMNS), 2, "written again")
        data[2 * ROWS : 3 * ROWS, 5] = 3  # one element of each row
        same(stored(place, ROWS * COLUMNS).reshape(ROWS, -1)[:, 5], 3, "a column")
        file["beside"] = np.arange(100_000)
        same(file["beside"][:], np.arange(100_000), "of another dataset")


def chunk_info_by_coord() -> None:
    with padded() as file:
        data = chunked(file)
        data[...] = 1
        place = data.id.get_chunk_info_by_coord((ROWS, 0)).byte_offset
        data[ROWS : 2 * ROWS] = 2
        same(stored(place, ROWS * COLUMNS), 2, "written again")


def chunk_iter() -> None:
    with padded() as file:
        data = chunked(file)
        data[...] = np.repeat(np.arange(4 * ROWS), COLUMNS).reshape(data.shape)
        places: dict[int, int] = {}

        def visit(chunk: h5py.h5d.StoreInfo) -> None:
            row = chunk.chunk_offset[0]
            places[row] = chunk.byte_offset
            same(stored(chunk.byte_offset, 10), row, "while they are told")

        data.id.chunk_iter(visit)
        data[...] = 7
        for place in places.values():
            same(stored(place, ROWS * COLUMNS), 7, "written again")


def offset() -> None:
    with padded() as file:
        file["x"] = np.ones(1 << 20)
        place = file["x"].id.get_offset()
        same(stored(place, 1 << 20, "f8"), 1, "as told")
        file["x"][...] = 2
        same(stored(place, 1 << 20, "f8"), 2, "written again")
        file["x"][1 << 19 :] = 3
        same(stored(place, 1 << 20, "f8")[1 << 19 :], 3, "the second half")


def compressed_chunks() -> None:
    with padded() as file:
        data = file.create_dataset(
            "z", (4 * ROWS, COLUMNS), "i4", chunks=(ROWS, COLUMNS), compression="gzip"
        )
        for value in (1, 2):
            wanted = np.tile(value + np.arange(COLUMNS, dtype="i4"), (ROWS, 1))
            data[ROWS : 2 * ROWS] = wanted
            info = data.id.get_chunk_info_by_coord((ROWS, 0))
            found = zlib.decompress(stored(info.byte_offset, info.size, "u1").tobytes())
            same(np.frombuffer(found, "i4").reshape(ROWS, -1), wanted, "gzip")


def direct_chunks() -> None:
    """As PyTables stores Blosc2 chunks and reads them back."""
    with padded() as file:
        data = file.create_dataset("z", (2000,), "i4", chunks=(1000,), compression="gzip")
        data[...] = 0
        file.flush()
        for value in range(20):
            encoded = zlib.compress(np.full(1000, value, "i4").tobytes())
            data.id.write_direct_chunk((1000,), encoded)
            info = data.id.get_chunk_info(1)
            assert stored(info.byte_offset, info.size, "u1").tobytes() == encoded, value
            mask, found = data.id.read_direct_chunk((1000,))
            assert (mask, found) == (0, encoded), value
            same(data[1000:], value, "by HDF5")


def read_chunk() -> None:
    with padded() as file:
        data = file.create_dataset("z", (4000,), "i4", chunks=(1000,), compression="gzip")
        data[...] = np.arange(4000)
        data[1500] = 7
        found = zlib.decompress(data.id.read_direct_chunk((1000,))[1])
        wanted = np.arange(1000, 2000)
        wanted[500] = 7
        same(np.frombuffer(found, "i4"), wanted, "chunk")


def other_handles() -> None:
    """Told of one handle, written through others, and by a link from another file."""
    with padded() as file:
        data = chunked(file)
        early = file["c"]
        early[...] = 0
        place = data.id.get_chunk_info(0).byte_offset
        early[:ROWS] = 1
        same(stored(place, ROWS * COLUMNS), 1, "an earlier handle")
        del data, early
        file["c"][:ROWS] = 2
        same(stored(place, ROWS * COLUMNS), 2, "a later handle")
        file["link"] = h5py.SoftLink("/c")
        file["link"][:ROWS] = 3
        same(stored(place, ROWS * COLUMNS), 3, "a link")
        with h5py.File("y.h5", "w") as other:
            other["c"] = h5py.ExternalLink(NAME, "/c")
            other["c"][:ROWS] = 4
            same(stored(place, ROWS * COLUMNS), 4, "another file's link")


def opened_again() -> None:
    with padded() as file:
        file["x"] = np.ones(1 << 20)
        data = chunked(file)
        data[...] = 1
        places = file["x"].id.get_offset(), data.id.get_chunk_info(0).byte_offset
    with h5py.File(NAME, "r+", rdcc_nbytes=CHUNK_CACHE) as file:
        file["x"][...] = 2
        same(stored(places[0], 1 << 20, "f8"), 2, "contiguous")
        file["c"][:ROWS, ::2] = 2
        same(stored(places[1], ROWS * COLUMNS).reshape(ROWS, -1)[:, ::2], 2, "a chunk")


def mapped() -> None:
    """A program that writes where it was told the data is, and reads by HDF5."""
    with padded() as file:
        file["x"] = np.ones(1 << 20)
        place = file["x"].id.get_offset()
        view = np.memmap(NAME, "f8", "r+", place, (1 << 20,))
        view[...] = 5
        same(file["x"][...], 5, "what the program wrote")
        file["x"][1000:] = 6
        same(view[1000:], 6, "what HDF5 wrote")
        same(file["x"][:1000], 5, "beside it")


def handle() -> None:
    with padded() as file:
        data = chunked(file)
        data[...] = 1
        file.flush()
        place = data.id.get_chunk_info(1).byte_offset
        descriptor = file.id.get_vfd_handle()
        size = 4 * ROWS * COLUMNS
        data[ROWS : 2 * ROWS] = 2
        same(np.frombuffer(os.pread(descriptor, size, place), "i4"), 2, "whole")
        data[ROWS : 2 * ROWS, 7] = 3
        found = np.frombuffer(os.pread(descriptor, size, place), "i4")
        same(found.reshape(ROWS, -1)[:, 7], 3, "a column")


def image() -> None:
    with padded() as file:
        data = chunked(file)
        data[...] = 1
        data[:, 9] = 2
        file.create_dataset("z", data=np.arange(10**6), chunks=(1000,), compression=1)
        file.flush()
        data[:, 8] = 3
        with h5py.File.in_memory(file.id.get_file_image()) as copy:
            same(copy["c"][:, 8], 3, "a column after the flush")
            same(copy["c"][:, 9], 2, "a column before it")
            same(copy["c"][:, 10:], 1, "the rest")
            same(copy["z"][:], np.arange(10**6), "compressed")


def external_file() -> None:
    with padded() as file:
        outside = [("raw.bin", 0, h5py.h5f.UNLIMITED)]
        data = file.create_dataset("e", (1000, 1000), "i4", external=outside)
        data[...] = 1
        data[:, 5] = 2
        file.flush()
        found = np.fromfile("raw.bin", "i4").reshape(1000, 1000)
        same(found[:, 5], 2, "a column")
        same(found[:, 6:], 1, "the rest")
        data[...] = 3
        same(np.fromfile("raw.bin", "i4"), 3, "written again")


def other_library() -> None:
    """What a flush promises another libhdf5 in the process."""
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    with h5py.File(NAME, "w", locking=False) as file:
        data = chunked(file)
        file.create_dataset("z", data=np.arange(10**6), chunks=(1000,), compression=1)
        for value in range(3):
            data[...] = value
            data[:, 3] = value + 10
            file.flush()
            with netCDF4.Dataset(NAME) as other:
                same(other["c"][:, 3], value + 10, "a column")
                same(other["c"][:, 4:], value, "the rest")
                same(other["z"][:], np.arange(10**6), "compressed")


def child() -> None:
    """What a flush promises programs that this one starts, and its own forks."""
    script = "import h5py; print(h5py.File('x.h5', locking=False)['c'][:, 3].sum())"
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("HDF5_", "HEADRACE_"))}
    with padded() as file:
        data = chunked(file)
        data[...] = 0
        place = data.id.get_chunk_info(0).byte_offset
        data[:, 3] = 1
        file.flush()
        told = subprocess.check_output([sys.executable, "-c", script], env=plain, text=True)
        assert int(told) == 4 * ROWS, told
        data[:ROWS] = 2
        process = os.fork()
        if process == 0:
            os._exit(0 if (stored(place, ROWS * COLUMNS) == 2).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, "the fork sees old bytes"


CASES = (
    chunk_info,
    chunk_info_by_coord,
    chunk_iter,
    offset,
    compressed_chunks,
    direct_chunks,
    read_chunk,
    other_handles,
    opened_again,
    mapped,
    handle,
    image,
    external_file,
    other_library,
    child,
)


def main() -> None:
    top = Path.cwd()
    failed: dict[str, str] = {}
    for case in CASES:
        folder = top / case.__name__
        folder.mkdir()
        os.chdir(folder)
        try:
            case()
        except Exception:
            failed[case.__name__] = traceback.format_exc(limit=-2)
    print(json.dumps({"cases": len(CASES), "failed": failed}))


main()
