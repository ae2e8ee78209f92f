"""Writes and reads contiguous rows from and to a GPU's memory, among others of the host's."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

cuda = ctypes.CDLL("libcuda.so.1")
cuda.device_allocate.restype = ctypes.c_void_p
ROWS, COLUMNS = 64, 1000


def on_device(count: int) -> tuple[Values, int]:
    """An array there, and its address; nobody may look into it."""
    address = cuda.device_allocate(count * 8)
    memory = memoryview((ctypes.c_char * (count * 8)).from_address(address))
    return np.frombuffer(memory, np.float64), address


def give(address: int, array: Values) -> None:
    cuda.device_copy(ctypes.c_void_p(address), array.ctypes.data_as(ctypes.c_void_p), array.nbytes)


def take(address: int, count: int) -> Values:
    array = np.zeros(count)
    cuda.device_copy(array.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(address), array.nbytes)
    return array


def transfer(
    call: Callable[..., Any], dataset: h5py.Dataset, array: Values, first: int, columns: int
) -> None:
    memory = h5py.h5s.create_simple((array.size,))
    space = dataset.id.get_space()
    space.select_hyperslab((first, 0), (array.size // columns, columns))
    call(memory, space, array)


def among_others() -> None:
    """To and from the device, where rows of the host's memory were written before and are after."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_sieve_buf_size(0)  # or HDF5 itself copies small rows
    file = h5py.File(h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=access))
    d = file.create_dataset("d", (ROWS, COLUMNS), "f8")
    expected = np.zeros((ROWS, COLUMNS))
    for i in range(ROWS):  # what is narrow a log takes
        d[:, i] = expected[:, i] = i
    array, address = on_device(8 * COLUMNS)
    for first, columns in ((8, COLUMNS), (20, 100), (30, COLUMNS)):
        part = array[: 8 * columns]
        given = np.arange(8.0 * columns) + first
        give(address, given)
        transfer(d.id.write, d, part, first, columns)
        expected[first : first + 8, :columns] = given.reshape(8, columns)
        transfer(d.id.read, d, part, first + 4, columns)
        found = take(address, 8 * columns).reshape(8, columns)
        assert (found == expected[first + 4 : first + 12, :columns]).all(), first
    for i in range(9, 40, 3):
        d[i, 3:9] = expected[i, 3:9] = -i
    transfer(d.id.read, d, array, 32, COLUMNS)
    assert (take(address, 8 * COLUMNS).reshape(8, COLUMNS) == expected[32:40]).all()
    file.close()
    np.save("expected.npy", expected)


def what_a_log_holds() -> None:
    """Of a file whose log was not put in order when it was closed."""
    with h5py.File("x.h5", "w") as file:
        d = file.create_dataset("d", (ROWS, COLUMNS), "f8")
        for i in range(ROWS):
            d[:, i] = i
    array, _ = on_device(8 * COLUMNS)
    with h5py.File("x.h5") as file:
        transfer(file["d"].id.read, file["d"], array, 0, COLUMNS)


{"others": among_others, "log": what_a_log_holds}[sys.argv[1]]()
