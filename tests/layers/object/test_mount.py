"""Files mounted in files: what a program sees of containers it sees of HDF5's own files."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import pytest
from h5py import h5f
from harness.layer import Layer, Options

from headrace.object import Map

pytestmark = pytest.mark.sanitized

PROGRAM = Path(__file__).with_name("mounting.py")


def test_a_program_sees_what_it_sees_natively(object_layer: Layer, tmp_path: Path) -> None:
    native = object_layer.command([sys.executable, PROGRAM], None)
    assert native.status == 0, native.text
    assert len(native.out.splitlines()) > 60
    for name in "pcd":
        (tmp_path / f"{name}.h5").unlink()
    here = object_layer.command([sys.executable, PROGRAM])
    assert here.text.splitlines() == native.text.splitlines()
    assert (tmp_path / "c.h5").stat().st_size < 1000  # a stub


def mount_natively() -> None:
    for name in "parent.h5", "child.h5":
        with h5py.File(name, "w", userblock_size=512) as file:  # no container
            file.create_group(name[0])
    with h5py.File("parent.h5", "r+") as parent, h5py.File("child.h5", "r+") as child:
        h5f.mount(parent.id, b"p", child.id)
        assert list(parent["p"]) == ["c"]
        h5f.unmount(parent.id, b"p")
        with h5py.File("container.h5", "w") as container:
            container.create_group("p")
            for one, other in (parent, container), (container, child):
                with pytest.raises(OSError, match="cannot be mounted in each other"):
                    h5f.mount(one.id, b"p", other.id)
            assert list(container["p"]) == list(parent["p"]) == []


def test_files_of_two_kinds_are_not_mounted_in_each_other(object_layer: Layer) -> None:
    object_layer.python(mount_natively)


def open_the_parent_twice() -> None:
    for name in "parent.h5", "child.h5":
        with h5py.File(name, "w") as file:
            file.create_group(name[0])
    with h5py.File("parent.h5", "r+") as parent:
        other, child = h5py.File("parent.h5", "r+"), h5py.File("child.h5", "r+")
        h5f.mount(other.id, b"p", child.id)
        assert list(parent["p"]) == list(other["p"]) == ["c"]
        child.close()
        other["p"].create_group("last")
        other.close()  # the mount goes with it, and the child is closed
        with h5py.File("child.h5") as file:
            assert sorted(file) == ["c", "last"]
        h5py.File("child.h5", "w").close()  # which is open nowhere
        assert list(parent["p"]) == []


def test_a_mount_goes_with_what_it_was_made_through(object_layer: Layer) -> None:
    object_layer.python(open_the_parent_twice)


def make_through_links() -> None:
    with h5py.File("a.h5", "w") as a, h5py.File("b.h5", "w") as b:
        b.create_group("g").create_group("first")
        a["out"] = h5py.ExternalLink("b.h5", "/g")
        a.create_group("out/made")
        a["out/soft"] = h5py.SoftLink("first")
        a.copy("out", "copy")
        a.move("out/made", "out/moved")
        a.create_group("out/new/on/the/way")
        assert sorted(b["g"]) == ["first", "moved", "new", "soft"]
        assert sorted(a["copy"]) == ["first", "made", "soft"]
        assert a.id.links.get_info(b"out/soft").type == h5py.h5l.TYPE_SOFT
        found = h5py.h5o.get_info(a.id, index=1, obj_name=b".")  # "out" is behind "copy"
        assert (found.fileno, found.addr) == (
            h5py.h5o.get_info(b["g"].id).fileno,
            h5py.h5o.get_info(b["g"].id).addr,
        )
        del a["out/moved"]
        assert "moved" not in b["g"]


def make_maps_elsewhere() -> None:
    with h5py.File("a.h5", "w") as a, h5py.File("b.h5", "w") as b, h5py.File("c.h5", "w") as c:
        b.create_group("g")
        a["out"] = h5py.ExternalLink("b.h5", "/g")
        a.create_group("p")
        h5f.mount(a.id, b"p", c.id)
        for way, there in ("out/m", b["g"]), ("p/m", a["p"]):
            Map.create(a, way, str, "i4")["one"] = 1
            assert dict(Map.open(a, way)) == dict(Map.open(there, "m")) == {"one": 1}
            Map.open(a, way)["two"] = 2
            assert len(Map.open(there, "m")) == 2
        Map.create(a["out"], "n", str, "i4")
        assert sorted(b["g"]) == ["m", "n"]
        h5f.unmount(a.id, b"p")
        assert dict(Map.open(c, "m")) == {"one": 1, "two": 2}


def test_maps_are_made_in_other_files(object_layer: Layer) -> None:
    object_layer.python(make_maps_elsewhere)


@pytest.mark.parametrize("options", [None, ...], ids=["native", "object"])
def test_links_to_other_files_are_ways_to_make_things(
    object_layer: Layer, options: Options
) -> None:
    object_layer.python(make_through_links, options)
