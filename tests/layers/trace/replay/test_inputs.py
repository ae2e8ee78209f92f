"""Files that a program has read are made of what its trace knows, where they are not there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import h5py
import netCDF4
import numpy as np
import pytest
from layers.trace.replay.inputs import read_all_kinds, recorded_without, stand_in

import headrace.trace
from headrace.trace.replay.run import differences

if TYPE_CHECKING:
    from pathlib import Path

    from layers.trace.replay.conftest import Recorded


def append() -> None:
    with h5py.File("x.h5", "r+") as file:
        packed = file["run/first/packed"]
        packed.resize((100, 500))
        packed[60:] = 1.5
        file["plain"][100:200] = 2
        file.create_dataset("new", data=np.arange(10))
        assert file["new"][3] == 3


def raw_data(trace: headrace.trace.Trace) -> Counter[tuple[str, str, int]]:
    """How many requests there are of raw data, by kind, dataset and length."""
    requests, calls = trace.requests.to_pandas(), trace.calls.to_pandas()
    paths = dict(zip(calls["number"], calls["path"], strict=True))
    chosen = requests[requests["type"] == "raw data"]
    return Counter(
        (kind, str(paths.get(call)), length)
        for kind, call, length in zip(
            chosen["request"], chosen["call"], chosen["length"], strict=True
        )
    )


def of_replay(layer: Recorded, stack: str = "native") -> headrace.trace.Trace:
    return headrace.trace.open(layer.folder / f"under-{stack}" / "replay.hrtrace")


def stored(file: str | Path, path: str) -> int:
    with h5py.File(file) as opened:
        return int(opened[path].id.get_storage_size())


def test_what_was_read_is_made_again(layer: Recorded) -> None:
    before = recorded_without(layer, read_all_kinds)
    native = layer.replayed()
    (after,) = native.files.values()
    with h5py.File(after) as made:
        packed = made["run/first/packed"]
        assert (packed.shape, packed.maxshape, packed.chunks) == ((64, 500), (None, 500), (8, 500))
        assert (packed.dtype, packed.compression, packed.shuffle) == ("f8", "gzip", True)
        assert packed.fillvalue == 3
        assert made["run/first"].attrs["numbers"].shape == (7,)
        assert "never looked at" not in made
    assert not native.left_out
    assert not native.likeness.calls
    recorded, replayed = raw_data(layer.trace()), raw_data(of_replay(layer))
    assert sum(recorded.values()) == sum(replayed.values()) > 8
    assert {k: n for k, n in recorded.items() if k[1] == "/plain"} == {
        k: n for k, n in replayed.items() if k[1] == "/plain"
    }
    for path in ("run/first/packed", *(f"run/first/more {i}" for i in range(5))):
        assert stored(after, path) == pytest.approx(stored(before, path), rel=0.02)
    assert not differences(native, layer.replayed("async"))


def test_what_was_changed_is_made_as_it_was_before(layer: Recorded) -> None:
    before = recorded_without(layer, append)
    with h5py.File(stand_in(layer).file) as made:
        assert made["run/first/packed"].shape == (64, 500)
        assert "new" not in made
    native = layer.replayed()
    assert not native.left_out
    assert not native.likeness.calls
    recorded, replayed = raw_data(layer.trace()), raw_data(of_replay(layer))
    assert sum(recorded.values()) == sum(replayed.values())
    (after,) = native.files.values()
    with h5py.File(after) as made, h5py.File(before) as real:
        assert made["run/first/packed"].shape == (100, 500)
        assert made["new"].shape == (10,)
        assert made["plain"].shape == real["plain"].shape


def refer_to_datasets() -> None:
    with h5py.File("x.h5") as file:
        assert file[file["reference"][()]][7] == 7
        assert file["numbers"][8] == 8
        assert file[file["other reference"][()]].shape == (5,)


def test_references_lead_to_what_is_made(layer: Recorded) -> None:
    with h5py.File(layer.folder / "x.h5", "w", libver="latest") as file:
        file["numbers"] = np.arange(10)
        file["others"] = np.arange(5)
        file["reference"] = file["numbers"].ref
        file["other reference"] = file["others"].ref
    layer.record(refer_to_datasets)
    (layer.folder / "x.h5").unlink()
    native = layer.replayed()
    assert not native.left_out
    assert not native.likeness.calls
    assert native.likeness.replayed == native.likeness.requests


def read_netcdf() -> None:
    with netCDF4.Dataset("x.h5") as file:
        assert file["t2m"][2:4].sum() == 9900
        assert file["model"]["kind"][3] == 1
        assert file["t2m"].units == "K"


def test_libraries_find_what_they_look_for(layer: Recorded) -> None:
    """By the order of creation, by references and of types of the file."""
    with netCDF4.Dataset(layer.folder / "x.h5", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 100)
        file.createVariable("time", "f8", ("time",)).units = "days"
        values = file.createVariable("t2m", "f4", ("time", "x"), zlib=True)
        values.units = "K"
        for i in range(5):
            values[i] = np.arange(100)
        group = file.createGroup("model")
        kinds = group.createEnumType("u1", "kinds", {"land": 0, "sea": 1})
        group.createVariable("kind", kinds, ("x",))[:] = 1
    layer.record(read_netcdf)
    (layer.folder / "x.h5").unlink()
    native = layer.replayed()
    assert not native.left_out
    assert not native.likeness.calls
    assert raw_data(layer.trace()) == raw_data(of_replay(layer))
