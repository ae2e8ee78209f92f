"""Attributes and datasets that plain tools have changed while a log waited."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from layers.log.later.commands import headrace

if TYPE_CHECKING:
    from harness.layer import Layer

LATER = "canonicalise=later;"


def open_and_go_on(mode: str) -> None:
    try:
        h5py.File("x.h5", mode).close()
        print("opened")
    except OSError as error:
        print(error)
    with h5py.File("y.h5", "w") as f:
        f["d"] = [1]


def opened(layer: Layer, mode: str, options: str = LATER) -> str:
    """What is said of it; the process goes on."""
    return layer.python(partial(open_and_go_on, mode), options).out.decode()


def other_kinds(reference: h5py.Reference) -> dict[str, object]:
    return {
        "text": "text of variable length",
        "texts": np.array(["a", "bc"], h5py.string_dtype()),
        "reference": np.array([reference], h5py.ref_dtype),
        "lists": np.fromiter([np.arange(3)], h5py.vlen_dtype("i4")),
        "compound": np.array([("a", 1)], [("s", h5py.string_dtype()), ("n", "i4")]),
        "characters": np.bytes_(b"0123456789abcdef"),
        "15 bytes": np.void(bytes(15)),
        "two of 16 bytes": np.array([np.void(bytes(16))] * 2),
    }


def mark(kind: str, libver: str) -> None:
    with h5py.File("x.h5", "w", libver=libver) as f:
        f["d"] = [1, 2]
        f.attrs["_headrace_log"] = other_kinds(f["d"].ref)[kind]


@pytest.mark.share(8)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize("kind", other_kinds(None))
def test_an_attribute_of_another_kind(layer: Layer, kind: str, mode: str, libver: str) -> None:
    """HDF5 crashes on some when they are looked at while it opens a file."""
    layer.plain(partial(mark, kind, libver))
    said = opened(layer, mode)
    assert "_headrace_log of the root group of file x.h5 does not name a log" in said, said


def write() -> None:
    with h5py.File("x.h5", "w") as f:
        for name in "ad":
            f.create_dataset(name, (50, 50), "i4")[:, ::2] = 7


def delete() -> None:
    with h5py.File("x.h5", "r+") as f:
        del f["d"]


def replace() -> None:
    with h5py.File("x.h5", "r+") as f:
        old = f["d"].id
        at = h5py.h5o.get_info(old).addr
        del old, f["d"]
        e = f.create_dataset("e", (50, 50), "i4")
        assert h5py.h5o.get_info(e.id).addr == at


def make_anew() -> None:
    with h5py.File("x.h5", "r+") as f:
        del f["d"]
        f["pad"] = 1
        f.create_dataset("d", (50, 50), "i4")


def rename() -> None:
    with h5py.File("x.h5", "r+") as f:
        f.move("d", "e")


def make_a_group() -> None:
    with h5py.File("x.h5", "r+") as f:
        del f["d"]
        f.create_group("d")


def read_what_is_left() -> None:
    with h5py.File("x.h5") as f:
        assert (f["a"][:, ::2] == 7).all()
        assert not f.attrs
        for name in set(f) & {"d", "e"}:
            assert isinstance(f[name], h5py.Group) or not f[name][...].any()


@pytest.mark.share(4)
@pytest.mark.parametrize("change", [delete, replace, make_anew, rename, make_a_group])
@pytest.mark.parametrize("options", [LATER, ""])
def test_a_dataset_that_is_gone(layer: Layer, change: Callable[[], None], options: str) -> None:
    layer.python(write, LATER)
    layer.plain(change)
    for mode in ("r", "r+"):
        said = opened(layer, mode, options)
        assert f"dataset /d of the log is not in file {layer.folder}/x.h5 under" in said, said
        assert "headrace replay --skip-missing" in said, said
    replayed = headrace(layer.folder, "replay", "x.h5")
    assert replayed.status == 2, replayed.text
    assert "dataset /d of the log is not in file" in replayed.text
    replayed = headrace(layer.folder, "replay", "--skip-missing", "x.h5")
    assert replayed.status == 0, replayed.text
    assert "1 datasets of the log are not in the file" in replayed.text
    layer.plain(read_what_is_left)


def test_a_dataset_that_has_its_name_again(layer: Layer) -> None:
    layer.python(write, LATER)
    layer.plain(rename)
    assert "/d of the log is not in" in opened(layer, "r")
    layer.plain("with h5py.File('x.h5', 'r+') as f: f.move('e', 'd')")
    assert opened(layer, "r+") == "opened\n"
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


def read_by(driver: str) -> None:
    with h5py.File("x.h5", "r+", driver=driver) as f:
        assert (f["d"][:, ::2] == 7).all()


@pytest.mark.parametrize("driver", ["stdio", "sec2", "core"])
def test_whatever_driver_looks(layer: Layer, driver: str) -> None:
    layer.python(write, LATER)
    layer.python(partial(read_by, driver))
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


def read_without_it() -> None:
    with h5py.File("x.h5") as f:
        assert (f["a"][:, ::2] == 7).all()
        assert not f["e"][...].any()


def test_readers_may_go_without_it(layer: Layer) -> None:
    layer.python(write, LATER)
    layer.plain(rename)
    layer.python(read_without_it, "skip_missing=true;")
