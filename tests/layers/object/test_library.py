"""Programs that end HDF5 and begin it anew."""

from __future__ import annotations

import pytest
from harness.build import built
from harness.layer import Layer
from harness.prefix import Hdf5


@pytest.mark.parametrize("words", [[], ["faces"]])
def test_again(object_layer: Layer, hdf5: Hdf5, words: list[str]) -> None:
    """What the layer keeps of a library's is not used in the next one."""
    program = built(f"tests/layers/object/programs/again_{hdf5.mpi}")
    done = object_layer.command([program, object_layer.folder, *words])
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text


def test_again_natively(object_layer: Layer, hdf5: Hdf5) -> None:
    program = built(f"tests/layers/object/programs/again_{hdf5.mpi}")
    done = object_layer.command([program, object_layer.folder, "faces"], None)
    assert (done.status, done.out, done.err) == (0, b"good\n", b""), done.text
