"""Calls that fail under a trace: the program sees HDF5's own errors, and the rows say so."""

from __future__ import annotations

from collections.abc import Callable

import h5py
import numpy as np
import pytest
from layers.trace.conftest import Traced

pytestmark = pytest.mark.sanitized


def fail_in_several_ways() -> None:
    with h5py.File("x.h5", "w") as f:
        f["x"] = np.arange(1000)
        attributes = f["x"].attrs
        for attempt, name in ((f.get, 3), (f.create_group, "x"), (attributes.__getitem__, "a")):
            try:
                attempt(name)
            except (KeyError, TypeError, ValueError) as error:
                print(error)
    try:
        h5py.File("missing.h5")
    except FileNotFoundError as error:
        print(error)
    with h5py.File("x.h5") as f:
        dataset = f["x"]
        changes: list[Callable[[], object]] = [
            lambda: dataset.__setitem__(0, 1),
            lambda: dataset.attrs.__setitem__("a", 1),
            lambda: dataset.id.set_extent((5,)),
            lambda: f.move("x", "y"),
            lambda: f.__delitem__("x"),
            lambda: dataset.id.read_direct_chunk((0,)),
        ]
        for change in changes:
            try:
                change()
            except (OSError, RuntimeError, KeyError, ValueError) as error:
                print(error)


@pytest.mark.parametrize("options", ["", "arguments=true;"])
def test_errors_are_native_and_recorded(layer: Traced, options: str) -> None:
    traced = layer.python(fail_in_several_ways, f"output=traced;{options}").out.decode().strip()
    assert traced == layer.plain(fail_in_several_ways)
    assert "no write intent" in traced
    failed = [each for each in layer.read().calls.to_pylist() if each["failed"]]
    assert {"group_create", "file_open"} <= {each["call"] for each in failed}
