"""Virtual datasets in containers: what a program reads and writes is what it does in files."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from harness.layer import Layer
from harness.program import text_of
from harness.run import run
from harness.stack import CLEAN

PROGRAMS = Path(__file__).with_name("virtual_programs.py")


def outputs(layer: Layer, words: list[str], **environ: str) -> tuple[str, str]:
    """Natively and under the layer."""
    native = Path(tempfile.mkdtemp(dir=layer.folder))
    done = run(words, env={**CLEAN, **environ}, cwd=native, limit=90)
    assert done.status == 0, done.text
    below = Path(tempfile.mkdtemp(dir=layer.folder))
    under = run(words, env=layer.env(**environ), cwd=below, limit=90)
    assert under.status == 0, under.text
    return done.out.decode(), under.out.decode()


def test_random_mappings_as_in_files(object_layer: Layer) -> None:
    words = [sys.executable, str(PROGRAMS), "0", "25"]
    native, under = outputs(object_layer, words)
    lines = native.splitlines()
    assert len(lines) > 1000
    assert native.count("fails") < len(lines) / 4
    assert under.splitlines() == lines
    sources = [path.read_bytes()[9:19] for path in object_layer.folder.glob("*/s*.h5")]
    assert sources.count(b"container=") > 20
    assert sum(start != b"container=" for start in sources) > 20


def look_in_folders() -> None:
    for number, folder in enumerate(["beside", "listed", "named", "here"]):
        Path(folder).mkdir()
        with h5py.File(f"{folder}/only_{folder}.h5", "w") as f:
            f["d"] = [number]
        with h5py.File(f"{folder}/all.h5", "w") as f:
            f["d"] = [number]
    names = ["only_beside", "only_listed", "only_named", "only_here", "all"]
    layout = h5py.VirtualLayout((2 * len(names),), "i4")
    for i, name in enumerate(names):
        layout[2 * i] = h5py.VirtualSource(f"{name}.h5", "d", (1,))[0]
        layout[2 * i + 1] = h5py.VirtualSource(f"/nowhere/{name}.h5", "d", (1,))[0]
    with h5py.File("beside/v.h5", "w") as f:
        f.create_virtual_dataset("v", layout, fillvalue=-1)
    Path("link.h5").symlink_to("beside/v.h5")
    os.chdir("here")
    for path in "../beside/v.h5", "../link.h5":
        for prefix in None, "../listed", "${ORIGIN}/../listed":
            with h5py.File(path) as f:
                dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
                if prefix:
                    dapl.set_virtual_prefix(prefix.encode())
                found = np.zeros(2 * len(names), "i4")
                h5py.h5d.open(f.id, b"v", dapl).read(h5py.h5s.ALL, h5py.h5s.ALL, found)
                print(path, prefix, found.tolist())


def test_sources_are_found_where_hdf5_finds_them(object_layer: Layer) -> None:
    for environ in {}, {"HDF5_VDS_PREFIX": "../nothing:../named"}:
        words = [sys.executable, "-c", text_of(look_in_folders)]
        native, under = outputs(object_layer, words, **environ)
        assert under.splitlines() == native.splitlines()
        assert "-1" in native  # some are nowhere
    assert len(set(native.splitlines())) == 6


def refused(act: Callable[[], object]) -> str:
    try:
        act()
    except (OSError, RuntimeError) as error:
        return str(error)
    raise AssertionError("not refused")


def use_sources_of_both_kinds() -> None:
    with h5py.File("native.h5", "w", userblock_size=512) as f:
        f["d"] = np.arange(4)
    with h5py.File("container.h5", "w") as f:
        f["d"] = np.arange(4) + 0.5
    layout = h5py.VirtualLayout((4, 4), "i4")
    for i, name in enumerate(["native.h5", "container.h5", ".", "missing.h5"]):
        layout[i] = h5py.VirtualSource(name, "d", (4,))
    with h5py.File("v.h5", "w") as f:
        f["d"] = [9, 9, 9, 9]
        v = f.create_virtual_dataset("v", layout, fillvalue=-1)
        assert v[:].tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [9, 9, 9, 9], [-1] * 4]
        v[:2, 1:3] = [[20, 21], [22, 23]]
        v[:3, 0] = np.array([1.75, 2.75, 3.75])  # converted for each source
        points = h5py.h5s.create_simple((4, 4))
        points.select_elements([[3, 0], [1, 1], [0, 3]])
        found = np.zeros(3, "i4")
        v.id.read(h5py.h5s.create_simple((3,)), points, found)
        assert found.tolist() == [-1, 22, 3]
        assert "unmapped" in refused(lambda: v.__setitem__((3, 0), 1))
        with h5py.File("container.h5") as s:  # before it is flushed
            assert s["d"][:].tolist() == [2.75, 22, 23, 3.5]
        f.copy("v", "copy")
        assert f["copy"].is_virtual
        with h5py.File("other.h5", "w") as other:
            f.copy("v", other)
            assert other["v"][:].tolist() == [[1, 20, 21, 3], [2, 22, 23, 3], [-1] * 4, [-1] * 4]
        assert f["copy"][2].tolist() == [3, 9, 9, 9]
        f["self"] = h5py.SoftLink("/loop")
        loop = h5py.VirtualLayout((4,), "i4")
        loop[:] = h5py.VirtualSource(".", "self", (4,))
        f.create_virtual_dataset("loop", loop)
        assert "lead back to it" in refused(lambda: f["loop"][:])


def use_each_other() -> None:
    for name, other in ("a.h5", "b.h5"), ("b.h5", "a.h5"):
        layout = h5py.VirtualLayout((2,), "i4")
        layout[0] = h5py.VirtualSource(other, "v", (2,))[1]
        layout[1] = h5py.VirtualSource(".", "d", (1,))[0]
        with h5py.File(name, "w") as f:
            f["d"] = [1]
            f.create_virtual_dataset("v", layout)
    opened = sum(1 for _ in Path("/proc/self/fd").iterdir())
    with h5py.File("a.h5", "r+") as a, h5py.File("b.h5", "r+") as b:
        v, w = a["v"], b["v"]
        assert v[:].tolist() == w[:].tolist() == [1, 1]
        w[:] = [4, 5]
        assert (v[:].tolist(), w[:].tolist()) == ([5, 4], [4, 5])
        del v, w
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == opened


def test_sources_that_lead_to_each_other_are_closed(object_layer: Layer) -> None:
    object_layer.python(use_each_other)


def read_a_copied_source() -> None:
    with h5py.File("s.h5", "w") as f:
        f["d"] = [1, 2]
    shutil.copy("s.h5", "copy.h5")  # which may not be opened for writing
    layout = h5py.VirtualLayout((2,), "i4")
    layout[:] = h5py.VirtualSource("copy.h5", "d", (2,))
    with h5py.File("v.h5", "w") as f:
        v = f.create_virtual_dataset("v", layout)
        assert v[:].tolist() == [1, 2]
        refused(lambda: v.__setitem__(0, 1))


def test_a_source_that_cannot_be_written_is_read(object_layer: Layer) -> None:
    object_layer.python(read_a_copied_source)


def read_a_small_source() -> None:
    with h5py.File("small.h5", "w") as f:
        f["d"] = [1, 2]
    with h5py.File("v.h5", "w") as f:
        layout = h5py.VirtualLayout((4,), "i4")
        layout[:] = h5py.VirtualSource("small.h5", "d", (4,))
        v = f.create_virtual_dataset("v", layout)
        text = refused(lambda: v[:])
        assert "source dataset d of file small.h5 has another extent" in text, text


def read_what_was_written() -> None:
    with h5py.File("v.h5", "r") as f:
        print(f["v"][:].tolist(), f["copy"].is_virtual)
    with h5py.File("container.h5") as f:
        print(f["d"][:].tolist())


def test_sources_of_both_kinds_are_read_and_written(object_layer: Layer) -> None:
    object_layer.python(use_sources_of_both_kinds)
    done = object_layer.python(read_what_was_written)
    rows = [[1, 20, 21, 3], [2, 22, 23, 3], [3, 9, 9, 9], [-1] * 4]
    assert done.out.decode().splitlines() == [f"{rows} True", "[2.75, 22.0, 23.0, 3.5]"]
    with h5py.File(object_layer.folder / "native.h5") as f:
        assert f["d"][:].tolist() == [1, 20, 21, 3]


def grow_meanwhile() -> None:
    with h5py.File("s.h5", "w") as s:
        s.create_dataset("d", data=np.arange(4), maxshape=(None,))
    layout = h5py.VirtualLayout((4,), "i8", maxshape=(None,))
    space = h5py.VirtualSource("s.h5", "d", (4,), maxshape=(None,))
    layout[: h5py.h5s.UNLIMITED] = space[: h5py.h5s.UNLIMITED]
    with h5py.File("v.h5", "w") as f:
        f.create_virtual_dataset("v", layout)
    reader = h5py.File("v.h5", "r+")["v"]
    writer = h5py.File("v.h5", "r+")["v"]
    with h5py.File("s.h5", "r+") as s:
        s["d"].resize(6, 0)
        s["d"][4:] = [10, 11]
        assert reader.shape == (6,)
    assert writer[:].tolist() == [0, 1, 2, 3, 10, 11]
    reader.refresh()
    assert reader.shape == (6,)


def test_a_source_that_is_too_small_is_an_error(object_layer: Layer) -> None:
    object_layer.python(read_a_small_source)


def test_extents_follow_sources(object_layer: Layer) -> None:
    object_layer.python(grow_meanwhile)
    done = object_layer.python("with h5py.File('v.h5') as f: print(f['v'].shape)")
    assert done.out.decode().strip() == "(6,)"


def look_through_a_file() -> None:
    with h5py.File("s.h5", "w") as f:
        f["d"] = [1, 2]
    layout = h5py.VirtualLayout((2,), "i4")
    layout[:] = h5py.VirtualSource("s.h5", "d", (2,))
    with h5py.File("v.h5", "w", userblock_size=512) as f:
        v = f.create_virtual_dataset("v", layout)
        assert "superblock" in refused(lambda: v[:])


def test_virtual_dataset_of_a_file_cannot_have_sources_in_containers(object_layer: Layer) -> None:
    object_layer.python(look_through_a_file)


EXPRESSIONS = ["2*x", "(2+x)*((x-8)/2)", "x*x-1.5"]


def transform(expressions: list[str]) -> None:
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = next(line.split()[-1] for line in maps if "libhdf5-" in line)
    set_transform = ctypes.CDLL(library).H5Pset_data_transform
    set_transform.argtypes = [ctypes.c_int64, ctypes.c_char_p]
    all_of_it = h5py.h5s.ALL
    with h5py.File("t.h5", "w") as f:
        for i, expression in enumerate(expressions):
            dxpl = h5py.h5p.create(h5py.h5p.DATASET_XFER)
            assert set_transform(dxpl.id, expression.encode()) >= 0
            d = f.create_dataset(f"d{i}", (5, 6), "f4", chunks=(2, 4), compression="szip")
            data = np.linspace(-20, 20, 30).reshape(5, 6)
            d.id.write(all_of_it, all_of_it, data, dxpl=dxpl)
            print(d[:].ravel().tolist())
            for dtype in "i4", "f8":
                found = np.zeros((5, 6), dtype)
                d.id.read(all_of_it, all_of_it, found, dxpl=dxpl)
                print(found.ravel().tolist())


def test_data_is_transformed_as_in_files(object_layer: Layer) -> None:
    program = text_of(partial(transform, EXPRESSIONS))
    words = [sys.executable, "-c", program]
    native, under = outputs(object_layer, words)
    assert len(set(native.splitlines())) == 9
    assert under.splitlines() == native.splitlines()
