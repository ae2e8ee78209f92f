"""The table of what HDF5 does in a call knows all operations that HDF5's headers have."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
from harness.prefix import MATRIX, ROOT, Hdf5

_VOL = ROOT / "src/vol"
# HDF5 has no operations for these: a call of one may do anything.
_WITHOUT = {"datatype_optional", "link_optional", "blob_optional", "optional"}


@cache
def _table() -> Counter[tuple[str, str, str]]:
    """The callback and operation of each row, with its number where the row has one."""
    text = (_VOL / "effects.def").read_text()
    rows = re.findall(r"^HEADRACE_EFFECTS\((\w+), (\w+),", text, re.MULTILINE)
    native = re.findall(r"^HEADRACE_NATIVE_EFFECTS\((\w+),\s+(\w+), (\d+),", text, re.MULTILINE)
    return Counter([*((callback, name, "") for callback, name in rows), *native])


def _header(hdf5: str, name: str) -> str:
    return (Hdf5(hdf5).prefix / "include" / name).read_text()


def _operations(hdf5: str) -> set[tuple[str, str, str]]:
    """All that the arguments of callbacks may ask for."""
    found = set()
    enums = re.findall(
        r"typedef enum H5VL_(\w+)_t \{(.*?)\} H5VL_", _header(hdf5, "H5VLconnector.h"), re.DOTALL
    )
    for callback, body in enums:
        if re.fullmatch(r"[a-z]+_(get|specific|create)", callback):
            names = re.findall(r"^\s*(H5VL_[A-Z_0-9]+)", body, re.MULTILINE)
            found |= {(callback, name, "") for name in names}
    native = re.findall(
        r"^#define (H5VL_NATIVE_([A-Z]+)_\w+)\s+(\d+)",
        _header(hdf5, "H5VLnative.h"),
        re.MULTILINE,
    )
    return found | {(f"{kind.lower()}_optional", name, number) for name, kind, number in native}


@pytest.mark.parametrize("hdf5", MATRIX)
def test_every_operation_is_in_the_table(hdf5: str) -> None:
    operations = _operations(hdf5)
    assert len(operations) > 90
    assert operations <= _table().keys()


def test_every_callback_is_in_the_table_once() -> None:
    listed = re.findall(
        r"^HEADRACE_VOL\((\w+),", (_VOL / "callbacks.def").read_text(), re.MULTILINE
    )
    callbacks = set(listed[listed.index("wrap_free_wrap_ctx") + 1 :])
    assert {callback for callback, _, _ in _table()} == callbacks - _WITHOUT
    assert max(_table().values()) == 1
