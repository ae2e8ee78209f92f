"""Metadata only: groups with attributes and links, made, then found again."""

from __future__ import annotations

from ctypes import byref, c_double
from pathlib import Path
from typing import Any

import h5py

from headrace.bench.peers.workload import Clock

from .. import library

_ATTRIBUTES = (b"a", b"b", b"c")
_NONE = (library.DEFAULT,) * 2


def _name(number: int) -> bytes:
    return b"group %06d" % number


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    with clock("create"):
        file = h5py.File(path, "w")
    with clock("write"):
        _make(file.id.id, given["count"])
    with clock("close"):
        file.close()
    with clock("open"):
        file = h5py.File(path, "r")
    with clock("read"):
        fault = _fault(file.id.id, given["count"])
    with clock("close_read"):
        file.close()
    if fault:
        raise ValueError(fault)


def _make(root: int, count: int) -> None:
    h5, double, one = library.functions(), library.double(), library.scalar()
    value = c_double()
    for number in range(count):
        name = _name(number)
        group = h5.H5Gcreate2(root, name, *_NONE, library.DEFAULT)
        for place, attribute_name in enumerate(_ATTRIBUTES):
            value.value = number + place
            attribute = h5.H5Acreate2(group, attribute_name, double, one.id, *_NONE)
            h5.H5Awrite(attribute, double, byref(value))
            h5.H5Aclose(attribute)
        h5.H5Lcreate_soft(b"/" + name, root, b"soft " + name, *_NONE)
        h5.H5Lcreate_hard(root, name, root, b"hard " + name, *_NONE)
        h5.H5Gclose(group)


def _fault(root: int, count: int) -> str:
    """What is not as it was made; by the soft link to every other group, by the hard one else."""
    h5, double = library.functions(), library.double()
    value = c_double()
    for number in range(count):
        name = (b"hard " if number % 2 else b"soft ") + _name(number)
        if not h5.H5Lexists(root, name, library.DEFAULT):
            return f"{name.decode()} is missing"
        group = h5.H5Gopen2(root, name, library.DEFAULT)
        for place, attribute_name in enumerate(_ATTRIBUTES):
            attribute = h5.H5Aopen(group, attribute_name, library.DEFAULT)
            h5.H5Aread(attribute, double, byref(value))
            h5.H5Aclose(attribute)
            if value.value != number + place:
                return f"{name.decode()}: attribute {attribute_name.decode()} is {value.value}"
        h5.H5Gclose(group)
    return ""


def check(path: Path, given: dict[str, Any]) -> str:
    with h5py.File(path, "r") as file:
        if len(file) != 3 * given["count"]:
            return f"there are {len(file)} links, not {3 * given['count']}"
        return _fault(file.id.id, given["count"])
