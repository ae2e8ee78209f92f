"""A reader without plug-ins: `python -m bench.log.plain FILE REFERENCE` compares the two.

Names behind these are those of attributes that only the file's root group has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np


def difference(path: Path, reference: Path, more: frozenset[str] = frozenset()) -> str:
    """The first place in which a file is not the reference, byte for byte; empty without any."""
    with h5py.File(path, "r") as found, h5py.File(reference, "r") as expected:
        root = {name: found.attrs[name] for name in found.attrs}
        if missing := more - set(root):
            return f"the root group: no attributes: {_some(set(missing))}"
        root = {name: value for name, value in root.items() if name not in more}
        if fault := _attributes("the root group", root, expected.attrs):
            return fault
        names, wanted = _datasets(found), _datasets(expected)
        if names != wanted:
            return f"other variables: {_some(names ^ wanted)}"
        for name in sorted(wanted):
            fault = _dataset(name, found[name], expected[name])
            if fault:
                return fault
    return ""


def _datasets(file: h5py.File) -> set[str]:
    names: set[str] = set()
    file.visititems(lambda name, one: names.add(name) if isinstance(one, h5py.Dataset) else None)
    return names


def _dataset(name: str, found: Any, expected: Any) -> str:
    for what in ("dtype", "shape", "maxshape", "chunks"):
        if getattr(found, what) != getattr(expected, what):
            return f"{name}: {what} is {getattr(found, what)}, not {getattr(expected, what)}"
    ours, theirs = (np.frombuffer(each[()].tobytes(), np.uint8) for each in (found, expected))
    if not np.array_equal(ours, theirs):
        element = int(np.flatnonzero(ours != theirs)[0]) // found.dtype.itemsize
        return f"{name}: element {element} differs"
    return _attributes(name, found.attrs, expected.attrs)


def _attributes(owner: str, found: Any, expected: Any) -> str:
    if set(found) != set(expected):
        return f"{owner}: other attributes: {_some(set(found) ^ set(expected))}"
    for name in expected:
        ours, theirs = np.asarray(found[name]), np.asarray(expected[name])
        if ours.dtype != theirs.dtype or ours.tobytes() != theirs.tobytes():
            return f"{owner}: attribute {name} differs"
    return ""


def _some(names: set[str]) -> str:
    return ", ".join(sorted(names)[:3])


def main(path: str, reference: str, *more: str) -> None:
    fault = difference(Path(path), Path(reference), frozenset(more))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    print(json.dumps({"fault": fault, "headrace": "libheadrace" in maps}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever a library raises is the result
        sys.exit(f"{type(error).__name__}: {error}")
