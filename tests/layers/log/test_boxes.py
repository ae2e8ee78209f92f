"""Many boxes by one call, from C and Python, under the layer and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.prefix import Hdf5

import headrace

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

STACKS = [None, "", "canonicalise=later;"]


def write() -> None:
    random = np.random.default_rng(4)
    f = h5py.File("x.h5", "w")
    model = {}
    for name, chunks in (("a", None), ("b", (7, 9))):
        d = f.create_dataset(name, (50, 60), "f4", chunks=chunks, fillvalue=-1)
        model[name] = np.full((50, 60), -1, "f4")
        for kind in ("f4", "i2"):
            start = random.integers(0, (40, 50), (300, 2))
            count = random.integers(0, 10, (300, 2))
            data = np.arange(count.prod(axis=1).sum()).astype(kind)
            headrace.write_n(d, start, count, data)
            at = 0
            for (y, x), (h, w) in zip(start, count, strict=True):
                model[name][y : y + h, x : x + w] = data[at : at + h * w].reshape(h, w)
                at += h * w
    v = f.create_dataset("names", (3,), h5py.string_dtype())
    headrace.write_n(v, [[2], [0]], [[1], [1]], np.array(["x", "yz"], object))
    np.savez("model.npz", a=model["a"], b=model["b"])


def read() -> None:
    model = np.load("model.npz")
    with h5py.File("x.h5") as f:
        assert (f["a"][...] == model["a"]).all()
        assert (f["b"][...] == model["b"]).all()
        assert [*f["names"].asstr()] == ["yz", "", "x"]


@pytest.mark.parametrize("options", STACKS)
def test_from_python(layer: Layer, options: str | None) -> None:
    layer.python(write, options)
    if options is not None:
        assert layer.counted("writes_logged") == 4
        layer.python("h5py.File('x.h5', 'r+').close()", options)
    layer.plain(read)


def write_what_does_not_fit() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (5, 6), "i4")
    for start, count, data in (
        ([[4, 0]], [[2, 1]], [1, 2]),
        ([[0, 7]], [[1, 0]], []),
        ([[0, -1]], [[1, 1]], [1]),
        ([[0, 0.5]], [[1, 1]], [1]),
        ([[0, 0]], [[1, 1], [1, 1]], [1, 2]),
        ([[0, 0]], [[1, 1]], [1, 2]),
        ([[0, 0]], [[2**63, 2]], []),
        ([[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [1, 1, 1]], [1, 2, 3]),
        ([0, 0], [1, 1], [1]),
        (0, 1, [1]),
    ):
        try:
            headrace.write_n(d, start, count, np.array(data, "i4"))
        except ValueError as error:
            print(error)
        else:
            raise AssertionError((start, count))
    headrace.write_n(d, np.empty((0, 2), int), np.empty((0, 2), int), [])
    assert not d[...].any()


@pytest.mark.parametrize("options", STACKS)
def test_boxes_that_do_not_fit(layer: Layer, options: str | None) -> None:
    layer.python(write_what_does_not_fit, options)


def write_logged() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (50, 60), "i4")[:, ::2] = 1


def write_through_the_link() -> None:
    d = h5py.File("y.h5", "r+")["l"]
    for _ in range(2):
        try:
            headrace.write_n(d, [[0, 0], [7, 8]], [[1, 2], [3, 4]], np.ones(14, "i4"))
        except OSError as error:
            print(error)


@pytest.mark.parametrize("options", STACKS[1:])
def test_a_log_behind_an_external_link(layer: Layer, options: str) -> None:
    layer.python(write_logged, "canonicalise=later;")
    layer.plain("h5py.File('y.h5', 'w')['l'] = h5py.ExternalLink('x.h5', 'd')")
    text = layer.python(write_through_the_link, options).text
    assert text.count("is in a file that has a log") == 2, text


@pytest.mark.parametrize("options", STACKS)
@pytest.mark.parametrize("build", ["1.14.5-openmpi", "2.2.0-mpich"])
def test_from_c(layer: Layer, build: str, options: str | None) -> None:
    command = [built(f"tests/layers/log/boxes_{Hdf5(build).mpi}"), layer.folder / "x.h5"]
    done = layer.command(command, options)
    assert done.status == 0, done.text
    assert options is None or layer.counted("writes_logged") == 4
