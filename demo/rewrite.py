"""Rewrites an HDF5 file with everything in it compressed, and checks that it reads back the same.

    rewrite.py INPUT OUTPUT

An ordinary h5py program: it knows nothing of Headrace. It prints a JSON object with what it did.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np


class Rewriter:
    """Copies one file into another, object by object."""

    def __init__(self, source: h5py.File, target: h5py.File) -> None:
        """Both open; the target empty."""
        self.source = source
        self.target = target
        self.copied: dict[Any, str] = {source["/"]: "/"}  # an object may have several names

    def run(self) -> None:
        """Copies everything."""
        self.attributes(self.source, self.target)
        self.group(self.source["/"])

    def group(self, group: h5py.Group) -> None:
        """Copies what is in a group, and below it."""
        for name in group:
            path = f"{group.name.rstrip('/')}/{name}"
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                self.target[path] = link
            elif group[name] in self.copied:
                self.target[path] = self.target[self.copied[group[name]]]
            else:
                self.copied[group[name]] = path
                self.item(group[name], path)

    def item(self, item: Any, path: str) -> None:
        """Copies a group, dataset or named datatype."""
        if isinstance(item, h5py.Dataset):
            made = self.dataset(item, path)
        elif isinstance(item, h5py.Group):
            made = self.target.create_group(path)
        else:
            self.target[path] = item.dtype
            made = self.target[path]
        self.attributes(item, made)
        if isinstance(item, h5py.Group):
            self.group(item)

    def dataset(self, dataset: h5py.Dataset, path: str) -> h5py.Dataset:
        """Writes the dataset anew, compressed where HDF5 can compress it."""
        if h5py.check_ref_dtype(dataset.dtype) is not None:
            sys.exit(f"{path}: object references cannot be rewritten")
        if dataset.shape is None:
            return self.target.create_dataset(path, data=h5py.Empty(dataset.dtype))
        options: dict[str, Any] = {}
        if dataset.size and dataset.shape:
            options = {"compression": "gzip", "shuffle": True, "maxshape": dataset.maxshape}
        made = self.target.create_dataset(path, dataset.shape, dataset.dtype, **options)
        if dataset.size:
            made[...] = dataset[...]
        return made

    def attributes(self, source: Any, made: Any) -> None:
        """Copies all attributes with their types."""
        for name in source.attrs:
            value = source.attrs[name]
            kind = source.attrs.get_id(name).dtype
            if isinstance(value, h5py.Empty):
                made.attrs[name] = value
            else:
                made.attrs.create(name, value, dtype=kind)


def walk(group: h5py.Group) -> Iterator[tuple[str, Any]]:
    """A group and all objects below it, each under one of its names."""
    found: list[tuple[str, Any]] = [(group.name, group)]
    group.visititems(lambda name, item: found.append((name, item)))
    yield from found


def checksum(values: Any) -> str:
    """Of what was read, whatever its storage."""
    if isinstance(values, np.ndarray) and values.dtype.names is None and values.dtype != object:
        return hashlib.sha256(values.tobytes()).hexdigest()
    # Strings and records: their bytes in memory hold addresses and padding.
    plain = values.tolist() if isinstance(values, np.ndarray | np.generic) else values
    return hashlib.sha256(repr(plain).encode()).hexdigest()


def checksums(file: h5py.File) -> tuple[dict[str, str], float]:
    """One for each dataset, and the seconds that reading took."""
    found, seconds = {}, 0.0
    for name, item in walk(file):
        if isinstance(item, h5py.Dataset):
            start = time.perf_counter()
            values = item[()]
            seconds += time.perf_counter() - start
            found[name] = checksum(values)
    return found, seconds


def main(source_name: str, target_name: str) -> None:
    """Rewrites, reads both back and reports."""
    start = time.perf_counter()
    with h5py.File(source_name, "r") as source, h5py.File(target_name, "w") as target:
        Rewriter(source, target).run()
    written = time.perf_counter() - start
    with h5py.File(source_name, "r") as source, h5py.File(target_name, "r") as target:
        before, _ = checksums(source)
        after, read = checksums(target)
        objects = sum(1 for _ in walk(target))
    if before != after:
        sys.exit(f"{target_name}: read back differently from {source_name}")
    seconds = {"write": written, "read": read}
    json.dump({"objects": objects, "datasets": len(after), "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
