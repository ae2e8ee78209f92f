"""What the filters of a dataset make of a chunk: how many bytes, and in which time."""

from __future__ import annotations

import ctypes
import itertools
import time
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.replay.hdf5.library import Library

_ANEW: Final = 2  # H5F_ACC_TRUNC
_UNLIMITED: Final = 0xFFFFFFFFFFFFFFFF  # H5S_UNLIMITED
_TRIES: Final = 300
# After these seconds a size that differs by this part only is near enough.
_PATIENCE: Final = 0.3
_NEAR_ENOUGH: Final = 1e-4
_JUMP: Final = 8  # bytes
_STEP: Final = 4099
_TIMES: Final = 2
# How many bits of a random byte are: the fewer there are, the longer coders look for repetitions.
# Of more than six, numbers may be infinite.
KINDS: Final = (2, 3, 4, 6)
_WHOLE_BYTES: Final = 8
_ROOM: Final = 0.93  # of what so many bits could be made at most
_POOLS: Final = {
    bits: np.random.default_rng(22).integers(0, 1 << bits, 1 << 24, np.uint8)
    for bits in (*KINDS, _WHOLE_BYTES)
}
_NUMBERS: Final = itertools.count()
Place = tuple[int, ...]  # of a chunk: its first element; its sides


class Filters:
    """Those of a dataset, in a file of their own, in memory."""

    def __init__(self, library: Library, type_: int, dcpl: int) -> None:
        """Takes the dataset's datatype and creation list, which stay the caller's."""
        self._library, self._type, self._dcpl = library, type_, dcpl
        fapl = library.call("H5Pcreate", library.variable("H5P_CLS_FILE_ACCESS_ID_g"))
        library.call("H5Pset_fapl_core", fapl, ctypes.c_size_t(1 << 20), ctypes.c_int(0))
        name = f"chunks {next(_NUMBERS)}".encode()  # HDF5 makes no file that is open
        self._file = library.call("H5Fcreate", name, ctypes.c_uint(_ANEW), 0, fapl)
        self._found: dict[tuple[Place, int, int], NDArray[np.uint8]] = {}
        # What was stored of so many random bytes, where they were enough: chunks are alike.
        self._near: dict[tuple[Place, int], list[tuple[int, int]]] = {}
        self._seconds = 0.0  # that the last chunk took

    def close(self) -> None:
        """Lets the memory go; nothing is asked afterwards."""
        self._found.clear()
        self._library.call("H5Fclose", self._file)

    def size(self, extent: Place, data: NDArray[np.uint8]) -> int:
        """Bytes that are stored of one chunk, of which so much is in the dataset."""
        call = self._library.call
        sides = ctypes.c_uint64 * len(extent)  # HDF5 makes no chunks larger than a limit of them
        most = sides(*(_UNLIMITED for _ in extent))
        space = call("H5Screate_simple", len(extent), sides(*extent), most)
        dataset = call("H5Dcreate2", self._file, b"x", self._type, space, 0, self._dcpl, 0)
        begin = time.perf_counter()
        call("H5Dwrite", dataset, self._type, 0, 0, 0, data.ctypes.data_as(ctypes.c_void_p))
        call("H5Dflush", dataset)
        self._seconds = time.perf_counter() - begin
        stored = call("H5Dget_storage_size", dataset)
        for function, handle in (("H5Dclose", dataset), ("H5Sclose", space)):
            call(function, handle)
        call("H5Ldelete", self._file, b"x", 0)
        return stored

    def seconds(self, extent: Place, data: NDArray[np.uint8]) -> float:
        """That one chunk takes to be written, the shortest of a few times."""
        taken = []
        for _ in range(_TIMES):
            self.size(extent, data)
            taken.append(self._seconds)
        return min(taken)

    def values(self, extent: Place, item: int, wanted: int, bits: int) -> NDArray[np.uint8]:
        """So many elements of `item` bytes, stored in `wanted` bytes or as near as was found.

        Of random bytes of so many `bits`, or more where they would not be enough.
        """
        whole = int(np.prod(extent)) * item
        while bits < _WHOLE_BYTES and wanted > _ROOM * whole * bits / _WHOLE_BYTES:
            bits += 2 if bits in (4, 6) else 1
        key = (extent, wanted, bits)
        if key not in self._found:
            near = self._near.setdefault((extent, bits), [])
            self._found[key] = self._search(extent, whole, wanted, _POOLS[bits], near)
        return self._found[key]

    def _search(
        self,
        extent: Place,
        whole: int,
        wanted: int,
        pool: NDArray[np.uint8],
        near: list[tuple[int, int]],
    ) -> NDArray[np.uint8]:
        """By bisection: what is stored grows with the random bytes, by few bytes for each."""
        kept, low, high = min(wanted, whole), 0, whole
        if near:
            stored, before = min(near, key=lambda each: abs(each[0] - wanted))
            kept = min(max(before + round((wanted - stored) * before / stored), 0), whole)
        best, nearest = np.zeros(whole, np.uint8), whole
        first = 0  # of the random bytes
        begin = time.perf_counter()
        for _ in range(_TRIES):
            near_enough = nearest <= _NEAR_ENOUGH * wanted
            if near_enough and time.perf_counter() - begin > _PATIENCE:
                break
            data = np.zeros(whole, np.uint8)
            data[:kept] = np.resize(pool[first : first + kept], kept)
            stored = self.size(extent, data)
            if stored <= 0:  # HDF5 makes no such dataset here
                break
            if abs(stored - wanted) < nearest:
                best, nearest = data, abs(stored - wanted)
            if stored == wanted:
                near.append((stored, kept))
                break
            low, high = (kept, high) if stored < wanted else (low, kept)
            if high - low < _JUMP:  # other random bytes end elsewhere
                first += _STEP
                low, high = max(kept - _JUMP, 0), min(kept + _JUMP, whole)
            guess = kept + round((wanted - stored) * kept / stored)
            kept = guess if low < guess < high else (low + high) // 2
        return best
