"""Rows of a dataset by a list of their numbers."""

import contextlib
import ctypes
import math
from ctypes import c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Final, Self

from headrace.operations.calls import CallError
from headrace.operations.operate import ON_DATASET, operate

if TYPE_CHECKING:
    import h5py
    from numpy.typing import ArrayLike, NDArray


EXPECT: Final = b"headrace.cache.expect"


class Expected(ctypes.Structure):
    """headrace_expect_t."""

    _fields_ = (("size", c_size_t), ("n", c_size_t), ("chunks", c_void_p))

    @classmethod
    def of(cls, chunks: "NDArray[Any]") -> Self:
        """Numbers of chunks, 64 bits each without gaps; to be kept while this is used."""
        return cls(ctypes.sizeof(cls), len(chunks), chunks.ctypes.data)


def take(dataset: "h5py.Dataset", rows: "ArrayLike") -> "NDArray[Any]":
    """What `dataset[rows]` is, in any order and with repetitions: each chunk is read once.

    h5py makes one selection of all rows, which takes longer the more there are; this reads the rows
    of each chunk by a call of their own.

    Args:
        dataset: An open one, with at least one dimension.
        rows: Numbers of rows, in the first dimension; negative ones count from its end. Or a mask
            of all rows.

    Returns:
        The rows in the order of the list: (rows, other dimensions of the dataset).

    Raises:
        IndexError: A row is beyond the dataset, or the mask has another length.
        OSError: HDF5 cannot read.
    """
    import numpy as np  # noqa: PLC0415, the package works without

    wanted = numbers_of(np.asarray(rows), dataset.shape[0])
    found = np.empty((len(wanted), *dataset.shape[1:]), dataset.dtype)
    if not len(wanted):
        return found
    order = np.argsort(wanted, kind="stable")
    ascending = wanted[order]
    length = dataset.chunks[0] if dataset.chunks else 1
    # Where the next row lies in another chunk, and does not follow right on the one before.
    apart = (np.diff(ascending // length) != 0) & (np.diff(ascending) > 1)
    begins = np.flatnonzero(np.concatenate(([True], apart)))
    if len(begins) > 1:
        _expect(dataset, ascending)
    for begin, end in zip(begins, [*begins[1:], len(wanted)], strict=True):
        part = ascending[begin:end]
        block = dataset[part[0] : part[-1] + 1]
        found[order[begin:end]] = block[part - part[0]]
    return found


def _expect(dataset: "h5py.Dataset", ascending: "NDArray[Any]") -> None:
    """Tells the `cache` layer which chunks the calls will read: it decodes on all cores then."""
    import numpy as np  # noqa: PLC0415, the package works without

    if not dataset.chunks or type(dataset).__module__.partition(".")[0] != "h5py":
        return
    shape = zip(dataset.shape, dataset.chunks, strict=True)
    _, *others = (-(-length // chunk) for length, chunk in shape)
    in_a_row = math.prod(others)
    rows = np.unique(ascending // dataset.chunks[0]).astype(np.uint64)
    chunks = (rows[:, None] * in_a_row + np.arange(in_a_row, dtype=np.uint64)).ravel()
    with contextlib.suppress(CallError):  # another handle may know that it has grown
        operate(dataset, ON_DATASET, EXPECT, Expected.of(chunks))


def numbers_of(rows: "NDArray[Any]", length: int) -> "NDArray[Any]":
    """Those of a list or mask of `length` rows, none negative. Raises IndexError."""
    import numpy as np  # noqa: PLC0415, the package works without

    if rows.dtype == bool:
        if rows.shape != (length,):
            raise IndexError(f"a mask of {rows.shape} for {length} rows")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.empty(0, np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise IndexError("rows are a list of integers, or a mask")
    wanted = rows.astype(np.intp)
    wanted = np.where(wanted < 0, wanted + length, wanted)
    if (wanted < 0).any() or (wanted >= length).any():
        raise IndexError(f"a row is beyond the dataset's {length}")
    return wanted
