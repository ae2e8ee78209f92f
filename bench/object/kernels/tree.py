"""Groups with an attribute, each with a dataset of 8 elements that has one, too.

By h5py's low-level functions: what h5py itself takes is the same natively, and hides the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5s, h5t

from .clock import Seconds, require, timed

ELEMENTS = 8
_IN_ONE = 1000  # groups in a group


def values(count: int) -> Any:
    """What is in the datasets."""
    return np.arange(count * ELEMENTS, dtype=np.float64).reshape(count, ELEMENTS)


def write(path: Path, given: dict[str, Any]) -> Seconds:
    data, numbers = values(given["count"]), np.arange(given["count"])
    found: Seconds = {}
    with timed(found, "write"):
        file = h5f.create(bytes(path), h5f.ACC_TRUNC)
        space, scalar = h5s.create_simple((ELEMENTS,)), h5s.create(h5s.SCALAR)
        for i in range(given["count"]):
            if i % _IN_ONE == 0:
                parent = h5g.create(file, b"%05d" % (i // _IN_ONE))
            group = h5g.create(parent, b"%05d" % i)
            h5a.create(group, b"number", h5t.NATIVE_INT64, scalar).write(numbers[i : i + 1])
            dataset = h5d.create(group, b"x", h5t.NATIVE_DOUBLE, space)
            dataset.write(h5s.ALL, h5s.ALL, data[i])
            h5a.create(dataset, b"number", h5t.NATIVE_INT64, scalar).write(numbers[i : i + 1])
        del parent, group, dataset
        file.close()
    return found


def read(path: Path, given: dict[str, Any]) -> Seconds:
    count = given["count"]
    data, numbers = np.zeros((count, ELEMENTS)), np.zeros((2, count), np.int64)
    found: Seconds = {}
    with timed(found, "read"):
        file = h5f.open(bytes(path), h5f.ACC_RDONLY)
        for i in range(count):
            if i % _IN_ONE == 0:
                parent = h5g.open(file, b"%05d" % (i // _IN_ONE))
            group = h5g.open(parent, b"%05d" % i)
            h5a.open(group, b"number").read(numbers[0, i : i + 1])
            dataset = h5d.open(group, b"x")
            dataset.read(h5s.ALL, h5s.ALL, data[i])
            h5a.open(dataset, b"number").read(numbers[1, i : i + 1])
        del parent, group, dataset
        file.close()
    require((data == values(count)).all() and (numbers == np.arange(count)).all(), "the tree")
    return found
