"""Many datasets of one number, each with an attribute."""

from __future__ import annotations

from ctypes import byref, c_double
from pathlib import Path
from typing import Any

import h5py

from headrace.bench.peers.workload import Clock

from .. import library

_ATTRIBUTE = b"unit"


def _name(number: int) -> bytes:
    return b"%07d" % number


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    h5, double, one = library.functions(), library.double(), library.scalar()
    default = (library.DEFAULT,) * 3
    value = c_double()
    at = byref(value)
    with clock("create"):
        file = h5py.File(path, "w")
        parent = file.create_group("tiny")
        group = parent.id.id
    with clock("write"):
        for number in range(given["count"]):
            value.value = number
            dataset = h5.H5Dcreate2(group, _name(number), double, one.id, *default)
            h5.H5Dwrite(dataset, double, *default, at)
            value.value = -number
            attribute = h5.H5Acreate2(dataset, _ATTRIBUTE, double, one.id, *default[:2])
            h5.H5Awrite(attribute, double, at)
            h5.H5Aclose(attribute)
            h5.H5Dclose(dataset)
    with clock("close"):
        file.close()


def check(path: Path, given: dict[str, Any]) -> str:
    h5, double = library.functions(), library.double()
    value, unit = c_double(), c_double()
    with h5py.File(path, "r") as file:
        parent = file["tiny"]
        if len(parent) != given["count"]:
            return f"there are {len(parent)} datasets, not {given['count']}"
        group = parent.id.id
        for number in range(given["count"]):
            dataset = h5.H5Dopen2(group, _name(number), library.DEFAULT)
            h5.H5Dread(dataset, double, *(library.DEFAULT,) * 3, byref(value))
            attribute = h5.H5Aopen(dataset, _ATTRIBUTE, library.DEFAULT)
            h5.H5Aread(attribute, double, byref(unit))
            h5.H5Aclose(attribute)
            h5.H5Dclose(dataset)
            if (value.value, unit.value) != (number, -number):
                return f"dataset {number} holds {value.value} with the unit {unit.value}"
    return ""
