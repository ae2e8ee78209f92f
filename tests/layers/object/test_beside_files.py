"""Containers and ordinary files in one program."""

from __future__ import annotations

import h5py
import numpy as np
from harness.layer import Layer


def use_both() -> None:
    native = h5py.File("n.h5", "a")  # was there before
    made = h5py.File("c.h5", "w")
    made["d"] = native["d"][...] + 1
    native["e"] = made["d"][...]
    made["out"] = h5py.ExternalLink("n.h5", "/d")
    assert made["out"][0] == 0
    assert made["out"].file.filename == "n.h5"
    both = h5py.File("other.h5", "w")
    both["there"] = h5py.ExternalLink("c.h5", "/out")
    assert (both["there"][...] == np.arange(4)).all()
    assert made.id.get_access_plist().get_libver_bounds()
    group = made.create_group("g")
    group.attrs["kept"] = 1
    native.close()  # looks at the ids of all objects
    assert group.attrs["kept"] == 1
    for file in made, both:
        file.close()
    assert "kept" not in h5py.File("n.h5").attrs


def use_kinds_that_stay_native() -> None:
    with h5py.File("core.h5", "w", driver="core") as f:
        f["d"] = 1
    with h5py.File("block.h5", "w", userblock_size=512) as f:
        f["d"] = 1


def test_files_that_are_no_stubs_are_hdf5s(object_layer: Layer) -> None:
    with h5py.File(object_layer.folder / "n.h5", "w") as f:
        f["d"] = np.arange(4)
    object_layer.python(use_both)
    with h5py.File(object_layer.folder / "n.h5") as f:
        assert f["e"][...].tolist() == [1, 2, 3, 4]
    for name in "c.h5", "other.h5":
        assert (object_layer.folder / name).read_bytes()[9:].startswith(b"container=")


def test_files_of_other_drivers_are_hdf5s(object_layer: Layer) -> None:
    object_layer.python(use_kinds_that_stay_native)
    for name in "core.h5", "block.h5":
        with h5py.File(object_layer.folder / name) as f:
            assert f["d"][()] == 1
