"""A few operations on a group of many links, or a dataset of many chunks.

`write` makes the file; `read` opens one of the middle, lists a thousand (as far as there are) from
there on, and adds one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5f, h5g

from .clock import Seconds, require, timed

LISTED = 1000
_CHUNK = 8  # elements
_ADDED = b"z%d"


def write(path: Path, given: dict[str, Any]) -> Seconds:
    found: Seconds = {}
    with timed(found, "write"), h5py.File(path, "w") as file:
        if given["of"] == "links":
            group = file.create_group("links")
            group["x"] = np.arange(8)
            for i in range(given["count"]):
                group.id.links.create_hard(b"%09d" % i, group.id, b"x")
        else:
            size = given["count"] * _CHUNK
            how = {"chunks": (_CHUNK,), "maxshape": (None,)}
            file.create_dataset("x", data=np.arange(size, dtype=np.float64), **how)
    return found


def read(path: Path, given: dict[str, Any]) -> Seconds:
    found: Seconds = {}
    operations = links if given["of"] == "links" else chunks
    operations(path, given["count"], given["added"], found)
    return found


def links(path: Path, count: int, added: int, found: Seconds) -> None:
    with timed(found, "open"):
        file = h5f.open(bytes(path), h5f.ACC_RDWR)
        group = h5g.open(file, b"links")
        dataset = h5py.Dataset(h5py.h5o.open(group, b"%09d" % (count // 2)))
    require((dataset[()] == np.arange(8)).all(), "the dataset")
    names: list[bytes] = []
    first, most = count // 2, min(LISTED, count - count // 2)

    def take(name: bytes) -> bool | None:
        names.append(name)
        return True if len(names) == most else None

    with timed(found, "list"):
        group.links.iterate(take, idx=first)
    require(names == [b"%09d" % i for i in range(first, first + most)], "the list")
    with timed(found, "by_index"):
        name = group.get_objname_by_idx(first)
    require(name == b"%09d" % first, "the name by index")
    with timed(found, "add"):
        group.links.create_soft(_ADDED % added, b"/x")
        del group, dataset
        file.close()


def chunks(path: Path, count: int, added: int, found: Seconds) -> None:
    middle = count // 2 * _CHUNK
    with timed(found, "open"):
        file = h5py.File(path, "r+")
        dataset = file["x"]
        one = dataset[middle]
    require(one == middle, "the element")
    size = min(LISTED, count - count // 2) * _CHUNK
    with timed(found, "list"):
        some = dataset[middle : middle + size]
    require((some == np.arange(middle, middle + size)).all(), "the list")
    with timed(found, "add"):
        dataset.resize(((count + added + 1) * _CHUNK,))
        dataset[-_CHUNK:] = np.arange(_CHUNK)
        file.close()
