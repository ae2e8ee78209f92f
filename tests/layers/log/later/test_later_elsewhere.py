"""Logs that outlive the program, and what reaches their data by other ways than their file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from layers.log.later.waiting import LATER, made, write, write_and_close

if TYPE_CHECKING:
    from harness.layer import Layer


def write_with_a_view() -> None:
    f, d, _e = made()
    c = f.create_dataset("c", (10, 10), chunks=(10, 10))
    c[...] = 1
    layout = h5py.VirtualLayout((100, 1000), "i4")
    layout[...] = h5py.VirtualSource(".", "d", (100, 1000))
    f.create_virtual_dataset("v", layout)
    d[:, ::2] = 4
    f.close()


def copy_to_another_file() -> None:
    f = h5py.File("x.h5")
    f.copy("d", h5py.File("y.h5", "w"))


def read_a_chunk() -> None:
    f = h5py.File("x.h5")
    f["c"].id.read_direct_chunk((0, 0))


def read_the_view() -> None:
    f = h5py.File("x.h5")
    f["v"][...]


@pytest.mark.parametrize("program", [copy_to_another_file, read_a_chunk, read_the_view])
def test_what_would_miss_the_log_is_refused(layer: Layer, program: Callable[[], None]) -> None:
    write(layer, write_with_a_view)
    done = layer.start(program)
    assert done.status == 1
    assert "headrace replay" in done.text, done.text


def link() -> None:
    for name, target in (("l", "d"), ("m", "g"), ("n", "d")):
        h5py.File("y.h5", "a")[name] = h5py.ExternalLink("x.h5", target)


def act(action: str, *, first: bool) -> None:
    """On what is behind links; the first time, link n goes before, which looks at nothing."""
    g = h5py.File("y.h5", "r+")
    if first:
        del g["n"]
    match action:
        case "read":
            assert g["l"][50, 12] == 62
        case "write":
            g["l"][:, ::2] = 1
        case "copy":
            g.copy("l", g, "copy")
        case "read a chunk":
            g["l"].id.read_direct_chunk((0, 0))
        case "set the extent":
            g["l"].id.set_extent((1, 1))
        case "delete by path":
            del g["m/e"]
        case "delete from the group":
            del g["m"]["e"]
        case _:
            raise AssertionError(action)


@pytest.mark.parametrize(
    "action",
    [
        "read",
        "write",
        "copy",
        "read a chunk",
        "set the extent",
        "delete by path",
        "delete from the group",
    ],
)
def test_a_log_behind_an_external_link(layer: Layer, action: str) -> None:
    """HDF5 follows such links below the layer."""
    write(layer, partial(write_and_close, (10, 100)))
    layer.plain(link)
    done = layer.start(partial(act, action, first=True), LATER)
    assert done.status == 1
    assert "is in a file that has a log" in done.text, done.text
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.python(partial(act, action, first=False), LATER)


def write_by_two_files() -> None:
    x, y = h5py.File("x.h5", "w"), h5py.File("y.h5", "w")
    d = x.create_dataset("d", (60, 60), "i4")
    own = y.create_dataset("own", (60, 60), "i4")
    y["l"] = h5py.ExternalLink("x.h5", "d")
    d[:, ::2] = 1
    for k in range(1, 40):
        far = y["l"]
        far[:, ::2] = 10 * k
        own[:, ::3] = k
        d[k:, ::2] = 10 * k + 1
        far[k + 1 :, ::4] = 10 * k + 2


def read_by_two_files() -> None:
    d = np.zeros((60, 60))
    for k in range(1, 40):
        d[:, ::2] = 10 * k
        d[k:, ::2] = 10 * k + 1
        d[k + 1 :, ::4] = 10 * k + 2
    with h5py.File("x.h5") as x, h5py.File("y.h5") as y:
        assert (x["d"][...] == d).all()
        assert (y["own"][:, ::3] == 39).all()


@pytest.mark.parametrize("options", ["", LATER])
def test_one_dataset_by_two_files(layer: Layer, options: str) -> None:
    """What is written through an external link, and to the file itself, in turns."""
    layer.python(write_by_two_files, options)
    assert layer.counted("writes_logged") > 100
    layer.python("for name in 'xy': h5py.File(f'{name}.h5', 'r+').close()")
    assert layer.plain(read_by_two_files) == ""


def write_an_attribute() -> None:
    with h5py.File("x.h5", "w") as f:
        f.attrs["a"] = 1
        f.create_dataset("d", (50, 60), "i4")[:, ::2] = 7


def copy_attributes() -> None:
    with h5py.File("x.h5") as old, h5py.File("y.h5", "w") as new:
        assert (old["d"][:, ::2] == 7).all()
        for to in new, new.create_group("g"):
            for name, value in old.attrs.items():
                try:
                    to.attrs[name] = value
                except (OSError, RuntimeError, KeyError) as error:
                    if name != "_headrace_log" or "must be replayed first" not in str(error):
                        raise
            to.attrs["b"] = 2
            try:
                h5py.h5a.rename(to.id, b"b", b"_headrace_log")
            except (OSError, RuntimeError, KeyError) as error:
                print(error)
            else:
                raise AssertionError
            assert dict(to.attrs) == {"a": 1, "b": 2}


def test_attributes_are_copied_without_their_log(layer: Layer) -> None:
    """The copy has all of the data, and must not get more from a log in its place."""
    layer.python(write_an_attribute, LATER)
    layer.python(copy_attributes, LATER)


def rename_in_between() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (50, 60), "i4")
        f["d"][:, 0::2] = 7
        f.move("d", "e")
        f["e"][:, 1::2] = 7


def test_a_program_that_renames(layer: Layer) -> None:
    """Logs find datasets by their names: nothing is logged once they may be others."""
    layer.python(rename_in_between, LATER)
    assert layer.counted("writes_logged") == 50, "one of each row"
    layer.plain("f = h5py.File('x.h5'); assert (f['e'][...] == 7).all() and not f.attrs")


def take_images() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (50, 60), "i4")[:, ::2] = 7
        f.flush()
        Path("image.h5").write_bytes(f.id.get_file_image())
        f["d"][:, 1::2] = 8
    try:
        h5py.File("x.h5").id.get_file_image()
    except (OSError, RuntimeError) as error:
        if "must be replayed first" not in str(error):
            raise
    else:
        raise AssertionError


def test_an_image_of_a_file(layer: Layer) -> None:
    layer.python(take_images, LATER)
    layer.plain("f = h5py.File('image.h5'); assert (f['d'][:, ::2] == 7).all() and not f.attrs")
