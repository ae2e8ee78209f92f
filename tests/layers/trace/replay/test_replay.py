"""A replay makes the program's requests, on values of its own."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from harness.program import Program
from layers.trace.replay.conftest import Recorded

from headrace.errors import FileError
from headrace.trace.replay import data
from headrace.trace.replay.run import differences


def write_and_read() -> None:
    with h5py.File("x.h5", "w") as file:
        group = file.create_group("group")
        group.attrs["units"] = "metres"
        group.attrs["numbers"] = np.arange(3)
        rows = group.create_dataset("rows", (100, 200), chunks=(10, 200), dtype="f8")
        for i in range(100):
            rows[i] = np.arange(200) + 12345.0
        file["words"] = ["a", "bcd", "e" * 1000]
        file["soft"] = h5py.SoftLink("/group/rows")
        file["hard"] = rows
        grows = file.create_dataset("grows", (5,), maxshape=(None,), dtype="i4")
        grows.resize((50,))
        grows[10:40:3] = 7
        grows[[1, 2, 5, 47]] = 8
        file.flush()
    with h5py.File("x.h5") as file:
        assert file["group/rows"][3:50:2].shape == (24, 200)
        assert file["group"].attrs["units"] == "metres"
        assert file["words"][2] == b"e" * 1000
        assert "nothing" not in file
        assert len(list(file)) == 5


def compressed() -> None:
    with h5py.File("x.h5", "w") as file:
        packed = file.create_dataset("x", (64, 4096), chunks=(4, 4096), dtype="i4", compression=1)
        packed[:] = np.random.default_rng(1).integers(0, 1 << 8, (64, 4096), "i4")


def read_only() -> None:
    with h5py.File("x.h5") as file:
        assert file["x"][5:20].sum() == sum(range(5, 20))


def comment() -> None:
    with h5py.File("x.h5", "w") as file:
        file.create_dataset("x", (4, 4), dtype="i2")
        h5py.h5o.set_comment(file["x"].id, b"a comment")


def test_requests_are_the_programs_and_no_value_is(layer: Recorded) -> None:
    layer.record(write_and_read)
    native = layer.replayed()
    assert native.likeness.exact
    assert native.likeness.requests > 50
    assert not native.likeness.calls
    assert not native.left_out
    (made,) = native.files.values()
    with h5py.File(made) as file:
        assert file["group/rows"].shape == (100, 200)
        assert not (file["group/rows"][0] == np.arange(200) + 12345.0).any()
        assert file["words"][2] == b"x" * 1000
        assert file["group"].attrs["units"] == "x" * len("metres")
        assert file["grows"].shape == (50,)


def test_a_layer_leaves_what_native_hdf5_does(layer: Recorded) -> None:
    layer.record(write_and_read)
    native, other = layer.replayed(), layer.replayed("async")
    assert not differences(native, other)
    assert not other.likeness.calls
    (made,) = other.files.values()
    assert not differences(native, layer.replayed("log"))
    broken = type(other)("async", other.likeness, other.left_out, other.files, {made: {}})
    assert differences(native, broken)


def test_data_compresses_as_the_programs(layer: Recorded) -> None:
    layer.record(compressed)
    like = layer.replayed().likeness
    assert like.alike == like.requests == like.replayed
    assert not like.exact, "chunks of other values have other sizes"
    before = layer.folder / "x.h5"
    (after,) = (layer.folder / "under-native").glob("*.h5")
    assert after.stat().st_size == pytest.approx(before.stat().st_size, rel=0.2)


def columns_of_whole_chunks() -> None:
    random = np.random.default_rng(2)
    with h5py.File("x.h5", "w") as file:
        how = {"chunks": (50, 40), "compression": "gzip", "shuffle": True, "fletcher32": True}
        packed = file.create_dataset("x", (100, 400), "f8", maxshape=(None, 400), **how)
        for i in range(0, 400, 40):
            packed[:, i : i + 40] = random.random((100, 40)).round(2)
        packed.resize((140, 400))
        packed[100:] = np.round(np.sin(np.arange(400.0)), 3)


@pytest.mark.parametrize("program", [compressed, columns_of_whole_chunks])
def test_chunks_are_as_large_as_the_programs(layer: Recorded, program: Program) -> None:
    layer.record(program)
    like = layer.replayed(exact=True).likeness
    assert like.exact
    assert not like.calls


def test_files_that_are_only_read_are_copied(layer: Recorded) -> None:
    with h5py.File(layer.folder / "x.h5", "w") as file:
        file["x"] = np.arange(100)
    layer.record(read_only)
    assert layer.replayed().likeness.exact


def test_what_is_left_out_is_told(layer: Recorded) -> None:
    layer.record(comment)
    found = layer.replayed()
    assert found.left_out == {"object_optional: a replay does not make its operation 1": 1}
    assert found.likeness.calls == {"object_optional": -1}


def test_a_trace_without_arguments_is_refused(layer: Recorded) -> None:
    layer.python(write_and_read, "output=traced;")
    with pytest.raises(FileError, match="arguments=true"):
        layer.replayed()


@pytest.mark.parametrize("ratio", [0.1, 0.4, 0.7])
def test_made_values_compress_to_a_ratio(ratio: float) -> None:
    import zlib  # noqa: PLC0415

    made = data.values(1 << 20, ratio).tobytes()
    assert len(zlib.compress(made, 6)) / len(made) == pytest.approx(ratio, abs=0.1)
