"""Compares two HDF5 files with plain h5py: all names, links, types, shapes, values, attributes.

    compare.py [--storage] A B

With --storage also how datasets are stored: layout, chunks, filters, fill values. Prints a JSON
object with the number of objects compared and a list of differences.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

# What HDF5 plug-ins are called here; this reader must not have any.
_OURS = "libheadrace"


def same(a: Any, b: Any) -> bool:
    """Equal values of equal type, NaN being equal to itself."""
    if isinstance(a, h5py.Empty) or isinstance(b, h5py.Empty):
        return bool(a == b)
    left, right = np.asarray(a), np.asarray(b)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.hasobject:
        return bool(left.tolist() == right.tolist())
    if left.dtype.names is not None:  # field by field: the padding between may differ
        return all(same(left[name], right[name]) for name in left.dtype.names)
    return left.tobytes() == right.tobytes()


def attributes(a: Any, b: Any) -> Iterator[str]:
    """Differences between the attributes of two objects."""
    for name in sorted({*a.attrs} | {*b.attrs}):
        if name not in a.attrs or name not in b.attrs:
            yield f"attribute {name} is missing in one"
        elif not a.attrs.get_id(name).get_type().equal(b.attrs.get_id(name).get_type()):
            yield f"attribute {name}: the types differ"
        elif not same(a.attrs[name], b.attrs[name]):
            yield f"attribute {name}: {a.attrs[name]!r} and {b.attrs[name]!r}"


def datasets(a: h5py.Dataset, b: h5py.Dataset, *, storage: bool) -> Iterator[str]:
    """Differences between two datasets."""
    if not a.id.get_type().equal(b.id.get_type()):
        yield "the types differ"
    elif a.shape != b.shape or a.maxshape != b.maxshape:
        yield f"the shapes are {a.shape} of {a.maxshape} and {b.shape} of {b.maxshape}"
    elif not same(a[()], b[()]):
        yield "the values differ"
    if storage and not a.id.get_create_plist().equal(b.id.get_create_plist()):
        yield "they are stored differently"


def groups(a: h5py.Group, b: h5py.Group) -> Iterator[str]:
    """Differences between the links in two groups."""
    for name in sorted({*a} | {*b}):
        links = [group.get(name, getlink=True) for group in (a, b)]
        if None in links:
            yield f"{name} is missing in one"
        elif type(links[0]) is not type(links[1]) or vars(links[0]) != vars(links[1]):
            yield f"{name}: the links lead elsewhere"


class Comparison:
    """Walks both files side by side."""

    def __init__(self, *, storage: bool) -> None:
        """`storage`: whether to compare how datasets are stored."""
        self.storage = storage
        self.objects = 0
        self.differences: list[str] = []
        self._partners: dict[Any, Any] = {}  # of both files: an object may have several names

    def items(self, a: Any, b: Any, path: str) -> None:
        """Compares two objects, and what is below them."""
        if a in self._partners or b in self._partners:
            if self._partners.get(a) != b or self._partners.get(b) != a:
                self.differences.append(f"{path}: not another name of the same object in both")
            return
        self._partners |= {a: b, b: a}
        self.objects += 1
        found = [] if type(a) is type(b) else ["the kinds of object differ"]
        if not found:
            found += attributes(a, b)
        if not found and isinstance(a, h5py.Dataset):
            found += datasets(a, b, storage=self.storage)
        if not found and isinstance(a, h5py.Datatype) and not a.id.equal(b.id):
            found.append("the types differ")
        if not found and isinstance(a, h5py.Group):
            found += groups(a, b)
            if not found:
                for name in a:
                    if isinstance(a.get(name, getlink=True), h5py.HardLink):
                        self.items(a[name], b[name], f"{path.rstrip('/')}/{name}")
        self.differences += [f"{path}: {each}" for each in found]


def main(*arguments: str) -> None:
    """Compares two files in a process without plug-ins."""
    storage = "--storage" in arguments
    first, second = (each for each in arguments if each != "--storage")
    comparison = Comparison(storage=storage)
    with h5py.File(first, "r") as a, h5py.File(second, "r") as b:
        comparison.items(a["/"], b["/"], "/")
    if _OURS in Path("/proc/self/maps").read_text(encoding="utf-8"):
        sys.exit("this comparison ran under Headrace itself")
    result = {"objects": comparison.objects, "differences": comparison.differences}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
