"""A program sees in a container what it sees in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import Layer

pytestmark = pytest.mark.sanitized

WORDS = ["", "a", "bb" * 5000, "ö"]


def write_kinds() -> None:
    rng = np.random.default_rng(1)
    with h5py.File("x.h5", "w", track_order=True) as f:
        f.attrs["numbers"] = np.arange(5)
        f.attrs["word"] = "wörd"
        f.attrs["words"] = np.array(WORDS, dtype=h5py.string_dtype())
        f["small"] = np.arange(12).reshape(3, 4)
        f["scalar"] = 1.5
        f["none"] = h5py.Empty("f4")
        f["blocks"] = rng.integers(0, 9, (700, 1000))
        f.create_dataset("words", data=WORDS, dtype=h5py.string_dtype())
        ragged = f.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype("i4"))
        ragged[0], ragged[2] = [1, 2, 3], [4]
        f.create_dataset("fill", (5,), "i2", fillvalue=7, chunks=(2,))
        f.create_dataset("fill_word", (2,), h5py.string_dtype(), fillvalue="nothing")
        pairs = f.create_dataset("pairs", (4,), [("n", "i4"), ("s", h5py.string_dtype())])
        pairs[1] = (5, "five")
        pairs["n"] = [9, 8, 7, 6]
        f["type"] = np.dtype([("x", "f8"), ("y", "f8")])
        f.create_dataset("of_type", (2,), dtype=f["type"])[1] = (1, 2)
        kinds: dict[str, dict[str, Any]] = {
            "gzip": {"compression": 4, "shuffle": True, "fletcher32": True},
            "lzf": {"compression": "lzf"},
            "scaled": {"scaleoffset": 0},
            "plain": {},
        }
        for name, how in kinds.items():
            d = f.create_dataset(name, (60, 70), "i4", chunks=(16, 33), maxshape=(None, 90), **how)
            d[5:50, 3:66] = rng.integers(0, 100, (45, 63))
            d[::7, 1::5] = 1
            d[[1, 4, 58], 2] = 2
            d.resize((33, 40))
            d.resize((64, 80))
            d[-1] = 3
        g = f.create_group("groups/below", track_order=True)
        for name in "zebra", "ant", "bee":
            g[name] = name
        g["soft"], g["broken"] = h5py.SoftLink("/small"), h5py.SoftLink("nowhere")
        g["hard"] = f["small"]
        f["ring"] = f["groups"]
        f["reference"] = f["small"].ref
        f.create_dataset("references", data=[f["gzip"].ref, f["type"].ref], dtype=h5py.ref_dtype)
        f.move("groups/below/ant", "groups/ant")
        f.copy("groups", "copied")
        f.copy(f["pairs"], f["copied"], name="again")
        f["removed"] = np.zeros(10)
        del f["removed"], f.attrs["numbers"]


def show() -> None:
    with h5py.File("x.h5", "r") as f:
        print(list(f), sorted(f.attrs), f.attrs["word"], f.attrs["words"])

        def tell(name: str, what: Any) -> None:
            print(name, type(what).__name__, what.name, sorted(what.attrs))
            if isinstance(what, h5py.Group):
                print(list(what), [type(what.get(one, getlink=True)).__name__ for one in what])
            if isinstance(what, h5py.Dataset):
                print(what.shape, what.dtype, what.chunks, what.maxshape, what.compression)
                print(what.fillvalue if name != "of_type" else "", what.shuffle, what.fletcher32)
            if isinstance(what, h5py.Dataset) and what.shape is not None:
                rows = what[...] if what.dtype != h5py.ref_dtype else np.zeros(0)
                print(hash(str(rows.tolist())) if rows.size > 100 else rows.tolist())

        f.visititems(tell)
        print(f[f["reference"][()]] == f["small"], [f[one].name for one in f["references"]])
        print(f["groups/below/soft"][...], "broken" in f["groups/below"])
        print(f["gzip"][::9, 5:20:3].tolist(), f["blocks"][5, 990:].tolist())
        print(f["plain"].id.get_space_status(), f["small"].id.get_storage_size())


def test_a_program_sees_what_it_sees_of_a_file(object_layer: Layer) -> None:
    told = []
    for options in (None, ...):
        object_layer.python(write_kinds, options, PYTHONHASHSEED="0")
        told.append(object_layer.python(show, options, PYTHONHASHSEED="0").out.decode())
        (object_layer.folder / "x.h5").unlink()
    assert len(told[0].splitlines()) > 100
    assert told[0].splitlines() == told[1].splitlines()


@pytest.mark.parametrize("above", ["async", "cache", "log", "null", "trace", "tune"])
def test_layers_above_change_nothing(tmp_path: Path, above: str) -> None:
    below = f"under_vol=7218;under_info={{store={tmp_path}/store;under_vol=0;under_info={{}}}}"
    layer = Layer(tmp_path, above, below=below)
    layer.python(write_kinds)
    assert (tmp_path / "x.h5").stat().st_size < 4096
    told = layer.python(show, PYTHONHASHSEED="0").out
    (tmp_path / "x.h5").unlink()
    alone = Layer(tmp_path, "object", usual=f"store={tmp_path}/store;")
    alone.python(write_kinds)
    assert told == alone.python(show, PYTHONHASHSEED="0").out


def write_filtered() -> None:
    """Of what gains nothing HDF5 leaves filters out."""
    rng = np.random.default_rng(1)
    with h5py.File("x.h5", "w") as f:
        for name, most in {"few": 50, "many": 2**31}.items():
            data = rng.integers(0, most, 999)
            for kind in "u4", "i8":
                for compression in None, "lzf", "gzip":
                    d = f.create_dataset(
                        f"{name}/{kind}/{compression}",
                        data=data.astype(kind),
                        chunks=(100,),
                        scaleoffset=0,
                        shuffle=compression == "lzf",
                        compression=compression,
                    )
                    d.attrs["is"] = data.astype(kind)


def read_filtered() -> None:
    with h5py.File("x.h5", "r") as f:
        found = []
        f.visititems(lambda _, what: found.append(what) if isinstance(what, h5py.Dataset) else None)
        assert len(found) == 12
        for d in found:
            assert (d[...] == d.attrs["is"]).all(), d.name
            plist = d.id.get_create_plist()
            if d.name.endswith("None"):
                assert len(plist.get_filter(0)[2]) == 20, d.name  # as HDF5 has filled them in


def test_filters_that_hdf5_runs(object_layer: Layer) -> None:
    object_layer.python(write_filtered)
    object_layer.python(read_filtered)


def random_transfers() -> None:
    """Against arrays; some chunks are known only in part when they are written."""
    rng = np.random.default_rng(int(np.frombuffer(b"object", "u1").sum()))
    shapes: dict[str, tuple[int, ...]] = {"a": (31, 17), "b": (200,), "c": (6, 5, 7)}
    chunks: dict[str, Any] = {"a": (8, 5), "b": (17,), "c": None}
    arrays = {name: np.zeros(shape, "i4") for name, shape in shapes.items()}
    with h5py.File("x.h5", "w") as f:
        for name, shape in shapes.items():
            most = (None,) * len(shape) if chunks[name] else None
            f.create_dataset(name, shape, "i4", chunks=chunks[name], maxshape=most)
    for turn in range(60):
        with h5py.File("x.h5", "r+") as f:
            for name, first in shapes.items():
                d = f[name]
                for _ in range(rng.integers(1, 6)):
                    now = arrays[name]
                    ends = [sorted(rng.integers(0, n + 1, 2)) for n in now.shape]
                    where = tuple(slice(a, b, int(rng.integers(1, 4))) for a, b in ends)
                    now[where] = d[where] = turn
                    assert (d[...] == now).all(), (turn, name, where)
                if chunks[name] and turn % 4 == 0:
                    size = tuple(int(rng.integers(1, 2 * n)) for n in first)
                    grown = np.zeros(size, "i4")
                    both = tuple(slice(0, min(a, b)) for a, b in zip(now.shape, size, strict=True))
                    grown[both] = now[both]
                    arrays[name] = grown
                    d.resize(size)
        with h5py.File("x.h5", "r") as f:
            for name, now in arrays.items():
                assert (f[name][...] == now).all(), (turn, name)


def test_random_transfers_and_extents(object_layer: Layer) -> None:
    object_layer.python(random_transfers, limit=240)
