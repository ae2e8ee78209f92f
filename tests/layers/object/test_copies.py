"""Objects copied within a container and to another one."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from harness.layer import Layer

pytestmark = pytest.mark.sanitized


def copy_all() -> None:
    word, ragged = h5py.string_dtype(), h5py.vlen_dtype("i4")
    with h5py.File("a.h5", "w") as a:
        g = a.create_group("g/below")
        g.attrs["word"], g.attrs["words"] = "wörd", np.array(["", "x" * 100], dtype=word)
        g.attrs["reference"] = a["g"].ref
        g["few"], g["one"] = ["a", "bb"], "scalar"
        g.create_dataset("many", data=[str(i) * 50 for i in range(500)], chunks=(60,))
        g.create_dataset("pairs", (3,), [("n", "i4"), ("w", word)])[1] = (4, "four")
        g.create_dataset("ragged", (3,), ragged)[2] = [1, 2]
        g.create_dataset("filled", (4,), word, fillvalue="none")
        g.create_dataset("numbers", data=np.arange(900).reshape(30, 30), chunks=(7, 9))
        g["references"] = np.array([a["g"].ref], dtype=h5py.ref_dtype)
        g["soft"], g["again"] = h5py.SoftLink("few"), g["few"]
        a["type"] = np.dtype([("x", "f8")])
        a.create_dataset("of_type", (2,), dtype=a["type"])
        with h5py.File("b.h5", "w") as b:
            for file in a, b:
                a.copy("g", file, "copied/in/here")
                a.copy("of_type", file, "copied/of_type")
        a.copy("g", "g/below/itself")
        assert sorted(a["g/below/itself/below"]) == sorted(set(g) - {"itself"})


def compare() -> None:
    with h5py.File("a.h5", "r") as a, h5py.File("b.h5", "r") as b:
        old, near, far = a["g/below"], a["copied/in/here/below"], b["copied/in/here/below"]
        for new in near, far:
            assert new.attrs["word"] == "wörd"
            assert list(new.attrs["words"]) == ["", "x" * 100]
            for name in "few", "one", "many", "pairs", "filled", "numbers":
                assert np.array_equal(new[name][()], old[name][()]), name
            assert [list(one) for one in new["ragged"][...]] == [[], [], [1, 2]]
            assert new["again"] == new["few"] == new["soft"]
        assert a[near["references"][0]].name == "/g"
        assert not far["references"][0]
        assert a["copied/of_type"].id.get_type().committed()
        assert b["copied/of_type"].dtype == [("x", "f8")]


def test_copies_have_all_that_was_there(object_layer: Layer) -> None:
    object_layer.python(copy_all)
    object_layer.python(compare)


def move_links() -> None:
    with h5py.File("a.h5", "w") as a, h5py.File("b.h5", "w") as b:
        a["soft"], a["out"] = h5py.SoftLink("/x"), h5py.ExternalLink("b.h5", "/y")
        b["y"] = 5
        for name in "soft", "out":
            a.id.links.move(name.encode(), b.id, name.encode())
        assert list(a) == []
        assert b.get("soft", getlink=True).path == "/x"
        assert b["out"][()] == 5


def test_links_without_objects_go_to_other_files(object_layer: Layer) -> None:
    object_layer.python(move_links)
