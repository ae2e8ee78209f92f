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


class Form:
    """A type of numpy's, and how HDF5 has elements of it."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """Of any type that h5py knows."""
        self.dtype = dtype
        self.type = h5py.h5t.py_create(dtype, logical=True)
        self.python = h5py.h5t.py_create(dtype)
        self.leads = dtype.hasobject
        self.size = max(self.type.get_size(), self.python.get_size())


class Memory:
    """Elements in the type that HDF5 has of them; what they lead to goes with it."""

    def __init__(self, form: Form, count: int, *, wanted: bool = False) -> None:
        """Room for so many; `wanted`: HDF5 will fill it."""
        self._form = form
        self._count = count
        self._bytes = np.zeros(max(count, 1) * form.size, np.uint8)
        self.address = int(self._bytes.ctypes.data)
        self._owns = wanted and form.leads

    @classmethod
    def of(cls, form: Form, array: NDArray[Any]) -> Self:
        """With these elements."""
        memory = cls(form, len(array))
        ctypes.memmove(memory.address, array.ctypes.data, array.nbytes)
        if form.leads:
            memory._convert(form.python, form.type, len(array))
            memory._owns = True
        return memory

    @property
    def type(self) -> int:
        """HDF5's id of the elements' type."""
        return int(self._form.type.id)

    def array(self, count: int) -> NDArray[Any]:
        """The first ones, for a program. What they lead to is given away."""
        array = np.empty(count, self._form.dtype)
        if self._form.leads:
            self._convert(self._form.type, self._form.python, count)
            self._owns = False
        ctypes.memmove(array.ctypes.data, self.address, array.nbytes)
        return array

    def _convert(self, source: Any, target: Any, count: int) -> None:
        background = np.zeros_like(self._bytes)
        h5py.h5t.convert(source, target, count, self._bytes, background)

    def __enter__(self) -> Self:
        """What the elements lead to is freed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Frees it."""
        if not self._owns or self._count == 0:
            return
        self._owns = False
        space = h5py.h5s.create_simple((self._count,))
        with entered() as library:
            library.H5Treclaim(self.type, space.id, 0, self.address)
