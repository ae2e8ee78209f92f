"""Many boxes of a dataset by one call; include/headrace/log.h is the same for C."""

import ctypes
from ctypes import c_size_t, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from headrace.operations.calls import ID
from headrace.operations.operate import ON_DATASET, operate

if TYPE_CHECKING:
    import h5py
    from numpy.typing import ArrayLike


class _Boxes(ctypes.Structure):
    """headrace_write_n_t."""

    _fields_ = (
        ("size", c_size_t),
        ("mem_type", ID),
        ("n", c_size_t),
        ("start", c_void_p),
        ("count", c_void_p),
        ("buffer", c_void_p),
    )


def write_n(
    dataset: "h5py.Dataset", start: "ArrayLike", count: "ArrayLike", data: "ArrayLike"
) -> None:
    """Writes many boxes of an h5py dataset, in their order: where they overlap, later ones win.

    The `log` layer appends them by one call. Without it they are written one by one.

    Args:
        dataset: An open one, with at least one dimension.
        start: For each box its first element: (boxes, dimensions), integers.
        count: For each box how many elements it has in each dimension; of the same shape.
        data: The elements of all boxes one after the other, each box row by row.

    Raises:
        ValueError: The shapes do not fit together, or a box reaches beyond the dataset.
        CallError, OSError: The layer or HDF5 cannot write.
    """
    import h5py  # noqa: PLC0415, the package works without
    import numpy as np  # noqa: PLC0415

    starts, counts = _boxes(dataset, start, "start"), _boxes(dataset, count, "count")
    if starts.shape != counts.shape:
        raise ValueError(f"{len(starts)} starts and {len(counts)} counts of boxes")
    extent = np.asarray(dataset.shape, c_uint64)
    if (starts > extent).any() or (counts > extent - np.minimum(starts, extent)).any():
        raise ValueError(f"a box reaches beyond {dataset.name}, which is {dataset.shape}")
    values = _elements(dataset, data)
    sizes = counts.prod(axis=1, dtype=c_uint64).tolist()
    if sum(sizes) != values.size:
        raise ValueError(f"boxes of {sum(sizes)} elements, but {values.size} elements of data")
    if values.size == 0:
        return
    kind = h5py.h5t.py_create(values.dtype)
    boxes = _Boxes(ctypes.sizeof(_Boxes), kind.id, len(starts), starts.ctypes.data,
                   counts.ctypes.data, values.ctypes.data)  # fmt: skip
    if operate(dataset, ON_DATASET, b"headrace.log.write_n", boxes):
        return
    space, at = dataset.id.get_space(), 0
    for first, number, size in zip(starts, counts, sizes, strict=True):
        if size:
            space.select_hyperslab(tuple(first.tolist()), tuple(number.tolist()))
            memory = h5py.h5s.create_simple((size,))
            dataset.id.write(memory, space, values[at : at + size], kind)
        at += size


def _boxes(dataset: "h5py.Dataset", given: "ArrayLike", what: str) -> Any:
    """Numbers that are 0 or more, one row a box."""
    import numpy as np  # noqa: PLC0415

    rank, numbers = len(dataset.shape or ()), np.asarray(given)
    if rank == 0:
        raise ValueError(f"{dataset.name} has no dimensions, and so no boxes")
    if numbers.size == 0:
        return np.empty((0, rank), c_uint64)
    if numbers.ndim != 2 or numbers.shape[1] != rank:
        raise ValueError(f"{what} of boxes of {dataset.name} is {numbers.shape}, not (n, {rank})")
    if numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise ValueError(f"{what} of boxes of {dataset.name} has other numbers than 0, 1, 2...")
    return np.ascontiguousarray(numbers, c_uint64)


def _elements(dataset: "h5py.Dataset", data: "ArrayLike") -> Any:
    """One after the other, in a type that HDF5 knows."""
    import numpy as np  # noqa: PLC0415

    values = np.asarray(data)
    # Of Python's objects and text, the dataset knows what they are in the file.
    return np.ascontiguousarray(
        values, dataset.dtype if values.dtype.kind in "OU" else values.dtype
    ).ravel()
