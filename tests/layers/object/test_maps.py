"""Maps: programs in Python and C put, find and go through entries in the order of keys."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.run import run
from harness.stack import stack_env
from harness.stacked import Stacked

from headrace.errors import HeadraceError
from headrace.object import Map
from headrace.operations.calls import CallError

pytestmark = pytest.mark.sanitized


def test_c(object_layer: Layer, hdf5: Hdf5) -> None:
    program = built(f"tests/layers/object/programs/maps_{hdf5.mpi}")
    done = object_layer.command([program, object_layer.folder / "x.h5", "maps"])
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text


def test_c_natively(object_layer: Layer, hdf5: Hdf5) -> None:
    program = built(f"tests/layers/object/programs/maps_{hdf5.mpi}")
    done = object_layer.command([program, object_layer.folder / "x.h5", "native"], None)
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text


def test_hdf5s_own_functions(object_layer: Layer, hdf5: Hdf5) -> None:
    program = built(f"tests/layers/object/programs/own_maps_{hdf5.mpi}")
    done = object_layer.command([program, object_layer.folder / "x.h5"])
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text


def be_a_dict() -> None:
    with h5py.File("x.h5", "w") as f:
        m = Map.create(f, "some/where", str, "f8")
        m["b"], m["a"], m["ö"], m[""] = 1.5, 2, 3, 4
        m["b"] = 5
        assert list(m) == ["", "a", "b", "ö"]
        assert len(m) == 4
        assert dict(m.items()) == {"": 4, "a": 2, "b": 5, "ö": 3}
        assert [key for key, _ in m.items(start="aa")] == ["b", "ö"]
        assert list(m.keys(start="b")) == ["b", "ö"]
        assert "a" in m
        assert "c" not in m
        assert 5 not in m
        assert m.get("c", 7) == 7
        assert m.pop("a") == 2
        with pytest.raises(KeyError, match="'a'"):
            m["a"]
        with pytest.raises(KeyError, match="'a'"):
            del m["a"]
        m.update({"x": 1, "y": 2}, z=3)
        assert m.get_many(["z", "x"]).tolist() == [3, 1]
        with pytest.raises(KeyError, match="nowhere"):
            m.get_many(["z", "nowhere"])
        m.clear()
        assert not list(m)
        m["last"] = 1
        m.attrs["unit"] = "m"
    assert not m
    with pytest.raises(ValueError, match="closed"):
        m["last"]
    with h5py.File("x.h5") as f:
        m = Map.open(f["some"], "where")
        assert dict(m) == {"last": 1}
        assert dict(m.attrs) == {"unit": "m"}
        with pytest.raises(CallError, match="read only"):
            m["a"] = 1
        with pytest.raises(KeyError, match="no map 'else'"):
            Map.open(f, "else")
        with pytest.raises(TypeError, match="'some' is not a map"):
            Map.open(f, "some")
        with pytest.raises(ValueError, match="a name ends at a NUL"):
            Map.open(f, "some/where\0else")
    assert not m


def have_all_types() -> None:
    pair = np.dtype([("name", h5py.string_dtype()), ("at", "<i2"), ("how", ">f4")])
    kinds: list[tuple[Any, list[Any]]] = [
        ("i1", [-128, -1, 0, 1, 127]),
        (">i8", [-(2**63), -5, 0, 5, 2**63 - 1]),
        ("u2", [0, 1, 255, 256, 65535]),
        (">u8", [0, 1, 2**63, 2**64 - 1]),
        ("f2", [-np.inf, -1.5, 0, 6e-8, 1, np.inf]),
        ("f4", [-1e38, -1e-45, 0, 1e-45, 1]),
        (">f8", [-np.inf, -1e308, 0, 5e-324, 1e308, np.inf]),
        ("S4", [b"", b"a", b"ab", b"b", b"\xff"]),
        (str, ["", "a", "a" * 384, "a" * 5000, "a" * 384 + "b", "b", "ö"]),
        (bytes, [b"a", b"a\x01", b"b"]),
        (bool, [False, True]),
        ("V3", [np.void(b"\0\0\1"), np.void(b"\1\0\0")]),
        (h5py.enum_dtype({"a": 3, "b": 1}, "i2"), [1, 3]),
        (pair, [("", 5, 1), ("a", -1, 9), ("a", 3, -2), ("a", 3, 2), ("ab", 0, 0)]),
        (np.dtype(("i4", (2,))), [(-1, 5), (0, -7), (0, 7)]),
    ]
    with h5py.File("x.h5", "w") as f:
        for i, (dtype, keys) in enumerate(kinds):
            m = Map.create(f, f"m{i}", dtype, "i4")
            for n in sorted(range(len(keys)), key=lambda n: n * 7 % 5):
                m[keys[n]] = n
            assert [int(value) for _, value in m.items()] == list(range(len(keys))), dtype
            assert [int(m[key]) for key in keys] == list(range(len(keys)))
    with h5py.File("x.h5") as f:
        for i, (dtype, keys) in enumerate(kinds):
            m = Map.open(f, f"m{i}")
            assert m.get_many(keys).tolist() == list(range(len(keys))), dtype
            assert m.get_many(list(m)).tolist() == list(range(len(keys))), dtype


def is_same(found: Any, value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(tuple(found) == value)
    if isinstance(found, np.ndarray) and found.dtype == object:
        return [one.decode() for one in found] == list(value)
    return bool(np.array_equal(found, value))


def keep_all_values() -> None:
    pair = np.dtype([("n", "i4"), ("s", h5py.string_dtype())])
    many = np.arange(100_000)
    kinds: list[tuple[Any, list[Any]]] = [
        (str, ["", "wörd", "x" * 20_000, "y" * 2_000_000]),
        (h5py.vlen_dtype("i8"), [many[:0], many[:3], many]),
        (h5py.vlen_dtype(h5py.string_dtype()), [np.array(["a", "b" * 99999], object)]),
        (pair, [(1, b"one"), (2, b"")]),
        (np.dtype(("f8", (1000, 30))), [np.arange(30_000.0).reshape(1000, 30)]),
        ("c16", [1 + 2j]),
        (">u2", [258]),
    ]
    with h5py.File("x.h5", "w") as f:
        for i, (dtype, values) in enumerate(kinds):
            m = Map.create(f, f"m{i}", "i4", dtype)
            m.update(range(len(values)), values)
            assert all(is_same(m[n], value) for n, value in enumerate(values)), dtype
    with h5py.File("x.h5") as f:
        for i, (dtype, values) in enumerate(kinds):
            m = Map.open(f, f"m{i}")
            assert len(m) == len(values)
            assert all(is_same(m[n], value) for n, value in enumerate(values)), dtype


def refuse_other_keys() -> None:
    with h5py.File("x.h5", "w") as f:
        m = Map.create(f, "m", "i2", "i4")
        for key, wrong in ((70_000, OverflowError), (1.5, ValueError), ("a", ValueError)):
            with pytest.raises(wrong):
                m[key] = 1
            assert key not in m
            with pytest.raises(KeyError):
                m[key]
        texts = Map.create(f, "s", "S3", "i4")
        with pytest.raises(ValueError, match="abcd"):
            texts["abcd"] = 1
        for dtype in (h5py.vlen_dtype("i4"), h5py.ref_dtype, np.longdouble):
            with pytest.raises(CallError, match="keys of a map cannot be"):
                Map.create(f, "x", dtype, "i4")
        with pytest.raises(CallError, match="values of a map cannot be references"):
            Map.create(f, "x", "i4", h5py.ref_dtype)
        with pytest.raises(CallError, match="name already exists"):
            Map.create(f, "m", "i4", "i4")
        assert sorted(f) == ["m", "s"]
        m[0.0] = 5
        zero = Map.create(f, "zero", "f8", "i4")
        zero[0.0], zero[float("nan")] = 1, 2
        assert (zero[-0.0], zero[-float("nan")], len(zero)) == (1, 2, 2)


@pytest.mark.parametrize("program", [be_a_dict, have_all_types, keep_all_values, refuse_other_keys])
def test_python(object_layer: Layer, program: Any) -> None:
    object_layer.python(program)


@pytest.mark.parametrize("above", ["null", "trace", "async"])
def test_below_other_layers(tmp_path: Path, hdf5: Hdf5, above: str) -> None:
    stacked = Stacked(tmp_path, f"{above},object(store={tmp_path}/store)")
    done = stacked.start(be_a_dict)
    assert done.status == 0, done.text
    program = built(f"tests/layers/object/programs/own_maps_{hdf5.mpi}")
    env = stack_env(stacked.usual, tmp_path / "report")
    done = run([program, tmp_path / "x.h5"], env=env, cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text


def test_is_refused_natively(tmp_path: Path) -> None:
    with (
        h5py.File(tmp_path / "x.h5", "w") as f,
        pytest.raises(HeadraceError, match="needs a file of the layer `object`"),
    ):
        Map.create(f, "m", str, "i4")


def be_an_object() -> None:
    with h5py.File("x.h5", "w", track_order=True) as f, h5py.File("y.h5", "w") as g:
        m = Map.create(f, "group/m", str, str)
        m["a"], m["large"] = "b", "x" * 100_000
        seen: list[str] = []
        f["group"].visit(seen.append)
        assert seen == ["m"]
        f["other"] = h5py.SoftLink("/group/m")
        f.copy("group", "copied")
        h5py.h5o.copy(f.id, b"group/m", g.id, b"m")
        h5py.h5o.copy(f.id, b"group", g.id, b"group")
        f.move("group/m", "moved")
        m["late"] = "c"
        assert dict(Map.open(f, "copied/m")) == {"a": "b", "large": "x" * 100_000}
        native = h5py.File("z.h5", "w", driver="core", backing_store=False)
        with pytest.raises(RuntimeError, match="is a map, which only containers have"):
            h5py.h5o.copy(f.id, b"moved", native.id, b"m")
        native.close()
        del m
    with h5py.File("x.h5", "r+") as f, h5py.File("y.h5") as g:
        for file, name in ((f, "copied/m"), (g, "m"), (g, "group/m")):
            assert dict(Map.open(file, name)) == {"a": "b", "large": "x" * 100_000}
        assert dict(Map.open(f, "moved"))["late"] == "c"
        with pytest.raises(KeyError):
            Map.open(f, "other")
        del f["moved"]
        assert "moved" not in f


def test_is_an_object(object_layer: Layer) -> None:
    object_layer.python(be_an_object)


def write_beside(name: str) -> None:
    with h5py.File("x.h5", "r+") as f:
        m = Map.open(f, "m")
        for part in range(10):
            keys = [f"{name} {part} {i}" for i in range(200)]
            m.update(keys, [part] * 200)
            f.flush()
        m["same"] = 1


def test_many_processes_lose_nothing(object_layer: Layer) -> None:
    object_layer.python(partial(make_map, "x.h5"))
    names = ["a", "b", "c", "d"]
    with ThreadPoolExecutor(len(names)) as pool:
        for done in pool.map(lambda name: object_layer.python(partial(write_beside, name)), names):
            assert done.status == 0, done.text
    object_layer.python(partial(look_for_all, names))


def make_map(path: str) -> None:
    with h5py.File(path, "w") as f:
        Map.create(f, "m", str, "i4")


def look_for_all(names: list[str]) -> None:
    with h5py.File("x.h5") as f:
        m = Map.open(f, "m")
        wanted = {
            f"{name} {part} {i}": part for name in names for part in range(10) for i in range(200)
        }
        assert dict(m) == {**wanted, "same": 1}
        assert len(m) == len(wanted) + 1
        assert list(m) == sorted([*wanted, "same"])


OTHER = """
import h5py
from headrace.object import Map
with h5py.File('x.h5', 'r+') as f:
  m = Map.open(f, 'm')
  m['ours'], m['theirs'] = 2, 2
"""


def lose_to_another() -> None:
    f = h5py.File("x.h5", "w")
    m = Map.create(f, "m", str, "i4")
    f.flush()
    m["ours"], m["mine"] = 1, 1
    subprocess.run([sys.executable, "-c", OTHER], check=True)
    assert dict(m) == {"mine": 1, "ours": 1, "theirs": 2}
    with pytest.raises(RuntimeError, match="put or deleted the key 'ours' of"):
        f.flush()
    f.flush()
    assert dict(m) == {"mine": 1, "ours": 2, "theirs": 2}
    assert len(m) == 3
    pid = os.fork()
    if pid == 0:
        try:
            m["child"] = 1
        except CallError as error:
            os._exit(0 if "before a fork" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    f.close()
    with h5py.File("x.h5") as f:
        assert dict(Map.open(f, "m")) == {"mine": 1, "ours": 2, "theirs": 2}


def test_one_key_of_two(object_layer: Layer) -> None:
    object_layer.python(lose_to_another)


def stay_small() -> None:
    with h5py.File("x.h5", "w") as f:
        m = Map.create(f, "m", str, str)
        for turn in range(2):
            for i in range(20):
                keys = [f"{n}" for n in range(i * 300, i * 300 + 300)]
                m.update(keys, ["x" * 20_000] * 300)
                assert len(m.get_many(keys)) == 300
                if (turn, i) == (0, 9):
                    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sum(len(value) for value in m.values()) == 6000 * 20_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 150_000, grown


@pytest.mark.plain
def test_memory_is_bounded(object_layer: Layer) -> None:
    object_layer.python(stay_small)
