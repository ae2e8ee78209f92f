"""Elements of numpy, and the same as HDF5 has them in memory."""

import ctypes
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from headrace.object.calls import entered

_INTEGERS = "iub"


def dtype_of(given: Any) -> np.dtype[Any]:
    """A type of numpy; of `str` and `bytes` that of texts of any length."""
    texts = {str: "utf-8", bytes: "ascii"}
    found: np.dtype[Any] = np.dtype(
        h5py.string_dtype(texts[given]) if isinstance(given, type) and given in texts else given
    )
    return found


def _is_text(dtype: np.dtype[Any]) -> bool:
    told = h5py.check_string_dtype(dtype)
    return told is not None and told.encoding == "utf-8"


def _item(dtype: np.dtype[Any], value: Any) -> Any:
    """What is assigned to one element."""
    base = h5py.check_vlen_dtype(dtype)
    if base not in (None, str, bytes):
        return np.asarray(value, base)
    if base in (str, bytes) and not isinstance(value, str | bytes):
        raise TypeError(f"{value!r} is no text")
    if dtype.kind == "S" and isinstance(value, str):
        return value.encode()
    if dtype.kind in _INTEGERS and isinstance(value, float | np.floating) and value != int(value):
        raise ValueError(f"{value!r} is no integer")
    return value


def array_of(dtype: np.dtype[Any], given: Any, count: int | None = None) -> NDArray[Any]:
    """Elements in a row; raises ValueError, TypeError or OverflowError for what is none.

    Args:
        dtype: Of the elements.
        given: Elements; a single one where `count` is None.
        count: How many there are.
    """
    if isinstance(given, np.ndarray) and given.dtype == dtype and given.shape == (count,):
        return np.ascontiguousarray(given)
    many = [given] if count is None else given
    array = np.zeros(len(many), dtype)
    for i, value in enumerate(many):
        array[i] = _item(dtype, value)
        whole = dtype.kind in _INTEGERS and np.ndim(value) == 0 and array[i] != value
        cut = dtype.kind == "S" and len(_item(dtype, value)) > dtype.itemsize
        if whole or cut:
            raise ValueError(f"{value!r} is no {dtype}")
    return array


def told(dtype: np.dtype[Any], array: NDArray[Any]) -> NDArray[Any]:
    """Elements as a program gets them: texts as str."""
    if dtype.kind != "O" or not _is_text(dtype):
        return array
    texts = np.empty(len(array), object)
    texts[:] = [
        one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one for one in array
    ]
    return texts


class Memory:
    """Elements in the type that HDF5 has of them; what they lead to goes with it."""

    def __init__(self, dtype: np.dtype[Any], count: int, *, wanted: bool = False) -> None:
        """Room for so many; `wanted`: HDF5 will fill it."""
        self.type = h5py.h5t.py_create(dtype, logical=True)
        self._dtype = dtype
        self._count = count
        self._python = h5py.h5t.py_create(dtype)
        self._leads = dtype.hasobject
        size = max(self.type.get_size(), self._python.get_size())
        self._bytes = np.zeros(max(count, 1) * size, np.uint8)
        self._owns = wanted and self._leads

    @classmethod
    def of(cls, dtype: np.dtype[Any], array: NDArray[Any]) -> Self:
        """With these elements."""
        memory = cls(dtype, len(array))
        ctypes.memmove(memory.address, array.ctypes.data, array.nbytes)
        if memory._leads:
            memory._convert(memory._python, memory.type, len(array))
            memory._owns = True
        return memory

    @property
    def address(self) -> int:
        """Where the elements are."""
        return int(self._bytes.ctypes.data)

    def array(self, count: int) -> NDArray[Any]:
        """The first ones, for a program. What they lead to is given away."""
        array = np.empty(count, self._dtype)
        if self._leads:
            self._convert(self.type, self._python, count)
            self._owns = False
        ctypes.memmove(array.ctypes.data, self.address, array.nbytes)
        return array

    def _convert(self, source: Any, target: Any, count: int) -> None:
        background = np.zeros_like(self._bytes)
        h5py.h5t.convert(source, target, count, self._bytes, background)

    def free(self) -> None:
        """What the elements lead to."""
        if not self._owns:
            return
        self._owns = False
        space = h5py.h5s.create_simple((self._count,))
        with entered() as library:
            library.H5Treclaim(self.type.id, space.id, 0, self.address)

    def __enter__(self) -> Self:
        """It is freed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Frees it."""
        self.free()
