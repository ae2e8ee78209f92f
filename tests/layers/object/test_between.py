"""Copies between containers and files that HDF5 itself writes and reads."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest
from harness.layer import Layer, Options
from random_programs.dump import of_file

pytestmark = pytest.mark.sanitized


def make() -> None:
    word, ragged = h5py.string_dtype(), h5py.vlen_dtype("i4")
    pair = np.dtype([("of", h5py.ref_dtype), ("n", "i4")])
    mixed = np.dtype([("w", word), ("v", h5py.vlen_dtype("f4")), ("a", "i2", (3,))])
    with h5py.File("plain.h5", "w") as f:
        f.attrs["title"] = "héllo"
        inner = f.create_group("g/h", track_order=True)
        for name in "zyx":
            inner[name], inner.attrs[name] = name, np.arange(5)
        inner.attrs["nothing"] = h5py.Empty("f4")
        h5py.h5o.set_comment(inner.id, b"a comment")
        grid = f.create_dataset(
            "g/grid",
            data=np.arange(10000).reshape(100, 100),
            chunks=(30, 40),
            maxshape=(None, 100),
            compression="gzip",
            shuffle=True,
            fletcher32=True,
            fillvalue=7,
        )
        f["g/axis"] = np.arange(100.0)
        f["g/axis"].make_scale("x")
        grid.dims[1].attach_scale(f["g/axis"])
        f["large"] = np.random.default_rng(1).random((700, 1000))
        f["scalar"], f["empty"] = 3.5, h5py.Empty("i4")
        f.create_dataset("unwritten", (10, 10), "f8")
        f.create_dataset("part", (400, 50), "f4", chunks=(100, 10))[150:250, 5:22] = 1
        f.create_dataset("words", data=["a", "", "c" * 5000], dtype=word, chunks=(2,))
        sequences = f.create_dataset("ragged", (40,), ragged, chunks=(7,))
        for i in range(40):
            sequences[i] = np.arange(i)
        f.create_dataset("mixed", (3,), mixed)[1] = ("zz", np.arange(3, dtype="f4"), (1, 2, 3))
        f["alias"], f["g/loop"] = f["g/grid"], f["g"]
        f["soft"], f["out"] = h5py.SoftLink("/g/grid"), h5py.ExternalLink("other.h5", "/x")
        f["type"] = np.dtype([("a", "i4"), ("b", "f8", (3,))])
        f["type"].attrs["about"] = "a type"
        f.create_dataset("of_type", data=np.ones(5, f["type"].dtype), dtype=f["type"])
        f["g"].attrs.create("of_type", np.zeros(2, f["type"].dtype), dtype=f["type"])
        references = f.create_dataset("references", (4,), h5py.ref_dtype)
        references[:3] = [f["g"].ref, f["references"].ref, f["g/grid"].ref]
        f.create_dataset("pairs", (2,), pair)[0] = (f["words"].ref, 5)
        f["g"].attrs["reference"] = f["scalar"].ref


def copy_files() -> None:
    assert hdf5plugin.FILTERS  # imported: HDF5 finds its plug-ins
    stdio = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    stdio.set_fapl_stdio()
    for source, target, access in (
        ("plain.h5", "kept.h5", h5py.h5p.DEFAULT),
        ("kept.h5", "back.h5", stdio),
    ):
        with h5py.File(source, "r") as old:
            new = h5py.h5f.create(target.encode(), fcpl=old.id.get_create_plist(), fapl=access)
            h5py.h5o.copy(old.id, b"/", new, b"/")
            new.close()


def compare_in_container() -> None:
    with h5py.File("kept.h5", "r") as f:
        assert f[f["references"][1]] == f["references"]
        assert f[f["pairs"][0]["of"]] == f["words"]
        assert f["g/loop"] == f["g"]
        assert list(f["g/h"]) == ["z", "y", "x"]
        assert f["of_type"].id.get_type() == f["type"].id
        assert f["of_type"].id.get_type().committed()
        assert f["alias"].dims[1][0] == f["g/axis"]
        assert not f["part"].id.get_chunk_info_by_coord((0, 0)).size


def test_files_are_equal_there_and_back(object_layer: Layer, tmp_path: Path) -> None:
    object_layer.plain(make)
    object_layer.python(copy_files)
    object_layer.python(compare_in_container)
    assert b"container=" in (tmp_path / "kept.h5").read_bytes()[:100]
    assert b"container=" not in (tmp_path / "back.h5").read_bytes()[:100]
    before, after = of_file(tmp_path / "plain.h5"), of_file(tmp_path / "back.h5")
    assert before["/references"]["data"] == after["/references"]["data"]
    assert before == after


def copy_objects(kind: str) -> None:
    if kind == "container":
        with h5py.File("plain.h5", "r") as old, h5py.File("made.h5", "w") as new:
            h5py.h5o.copy(old.id, b"/", new.id, b"/")
    source = "plain.h5" if kind == "native" else "made.h5"
    with h5py.File(source, "r") as plain, h5py.File("kept.h5", "w") as kept:
        plain.copy("g", kept, "in/here")
        plain.copy("g", kept["in"], "bare", without_attrs=True, shallow=True)
        plain.copy("of_type", kept)
        plain.copy("references", kept)
        plain.copy("soft", kept, "grid", expand_soft=True)
        with pytest.raises((RuntimeError, ValueError, OSError), match="already exists"):
            plain.copy("g", kept, "grid")
        with h5py.File("memory", "w", driver="core", backing_store=False) as memory:
            kept.copy("in/here", memory, "g")
            memory.copy("g/h", kept, "again")
            assert memory["g/loop"] == memory["g"]
        assert kept["in/here/loop"] == kept["in/here"]
        assert set(kept["in/bare"]) == set(plain["g"])
        assert not kept["in/bare"].attrs
        assert kept["of_type"].dtype == plain["of_type"].dtype
        assert not any(kept["references"][...])
        for copied in kept["in/here/grid"], kept["grid"]:
            assert np.array_equal(copied[...], plain["g/grid"][...])
            assert not copied.attrs["DIMENSION_LIST"][1][0]
        assert list(kept["again"]) == ["z", "y", "x"]
        assert kept["again/x"][()] == b"x"
        with pytest.raises((RuntimeError, ValueError, OSError, KeyError)):
            plain.copy("g/no such", kept, "x")
        with h5py.File("memory", "w", driver="core", backing_store=False) as memory:
            memory["soft"], memory["hard"] = h5py.SoftLink("/g/x"), 1
            memory.id.links.move(b"soft", kept.id, b"moved")
            assert "soft" not in memory
            kept.id.links.move(b"moved", memory.id, b"back")
            assert memory.id.links.get_val(b"back") == b"/g/x"
            assert not kept.id.links.exists(b"moved")
            with pytest.raises((RuntimeError, ValueError, OSError), match="hard link"):
                memory.id.links.move(b"hard", kept.id, b"hard")
        assert "x" not in kept
        kept["dangling"] = h5py.SoftLink("/nowhere")
        with pytest.raises((RuntimeError, ValueError, OSError), match="already exists"):
            plain.copy("g", kept, "dangling")
        assert kept.id.links.get_val(b"dangling") == b"/nowhere"


@pytest.mark.parametrize("kind", ["native", "container"])
def test_objects_are_copied_to_other_files(object_layer: Layer, kind: str) -> None:
    object_layer.plain(make)
    object_layer.python(partial(copy_objects, kind))


def refer_to_another_file() -> None:
    """By references of HDF5 1.12, which h5py does not make."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in maps if "libhdf5-" in line))
    integers = ctypes.c_int64
    for name in "H5Dcreate2", "H5Dopen2", "H5Ropen_object":
        getattr(library, name).restype = integers
    kind = integers.in_dll(library, "H5T_STD_REF_g")
    default = integers(0)
    reference = ctypes.create_string_buffer(64)
    space = h5py.h5s.create_simple((1,))
    words = kind, default, default, default, reference

    def put(file: h5py.File) -> None:
        where = integers(file.id.id), b"r", kind, integers(space.id)
        made = integers(library.H5Dcreate2(*where, default, default, default))
        assert library.H5Dwrite(made, *words) >= 0
        assert library.H5Dclose(made) >= 0

    def get(file: h5py.File) -> None:
        opened = integers(library.H5Dopen2(integers(file.id.id), b"r", default))
        assert library.H5Dread(opened, *words) >= 0
        assert library.H5Dclose(opened) >= 0

    with h5py.File("a.h5", "w") as a, h5py.File("b.h5", "w") as b, h5py.File("c.h5", "w") as c:
        for number, file in enumerate((a, b, c)):
            file["d"] = number
        assert library.H5Rcreate_object(integers(a.id.id), b"d", default, reference) >= 0
        put(b)
        put(a)
        assert library.H5Rdestroy(reference) >= 0
        get(a)
        put(c)
        assert library.H5Rdestroy(reference) >= 0
    for name in "abc":
        with h5py.File(f"{name}.h5") as file:
            get(file)
            found = library.H5Ropen_object(reference, default, default)
            assert h5py.Dataset(h5py.h5d.DatasetID(found))[()] == 0, name
            assert library.H5Rdestroy(reference) >= 0


@pytest.mark.parametrize("options", [None, ...], ids=["native", "object"])
def test_references_lead_to_other_files(object_layer: Layer, options: Options) -> None:
    object_layer.python(refer_to_another_file, options)


def make_filtered() -> None:
    """By plug-ins whose parameters become others when a dataset is made."""
    floats: dict[str, Mapping[str, object]] = {
        "zfp": hdf5plugin.Zfp(rate=8),
        "sz": hdf5plugin.SZ(absolute=0.1),
        "sperr": hdf5plugin.Sperr(rate=8),
    }
    all_types: dict[str, Mapping[str, object]] = {
        "bitshuffle": hdf5plugin.Bitshuffle(),
        "plain bitshuffle": {"compression": 32008, "compression_opts": ()},
        "bitshuffle zstd": hdf5plugin.Bitshuffle(cname="zstd"),
        "blosc": hdf5plugin.Blosc(),
        "zstd": hdf5plugin.Zstd(),
    }
    values = np.random.default_rng(1).random((40, 37))
    with h5py.File("plain.h5", "w", libver="latest") as f:
        for name, options in floats.items():
            f.create_dataset(name, data=values, chunks=(16, 16), **options)
        # Of which HDF5 tells wrong places of chunks.
        columns = {"maxshape": (60, None), "compression": 4}
        f.create_dataset("by columns", data=values, chunks=(16, 16), **columns)
        for name, options in all_types.items():
            whole = (1000 * values).astype("i2")
            f.create_dataset(name, data=whole, chunks=(16, 16), shuffle=True, **options)


def show_filtered(path: str) -> None:
    assert hdf5plugin.FILTERS
    with h5py.File(path, "r") as f:
        for name, dataset in f.items():
            list_of = dataset.id.get_create_plist()
            filters = [list_of.get_filter(i) for i in range(list_of.get_nfilters())]
            chunk = dataset.id.read_direct_chunk((16, 16))
            print(name, filters, chunk, dataset[...].tobytes())


def test_chunks_are_what_they_were_for_every_filter(object_layer: Layer) -> None:
    object_layer.plain(make_filtered)
    before = object_layer.plain(partial(show_filtered, "plain.h5"))
    assert len(before.splitlines()) == 9
    object_layer.python(copy_files)
    assert object_layer.python(partial(show_filtered, "kept.h5")).out.decode().strip() == before
    assert object_layer.plain(partial(show_filtered, "back.h5")) == before
