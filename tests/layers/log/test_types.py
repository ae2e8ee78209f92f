"""A log fits a dataset only if the bytes of an element mean the same in both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from h5py import h5d, h5s, h5t

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized


def changed(kind: h5t.TypeID, **values: object) -> h5t.TypeID:
    kind = kind.copy()
    for name, value in values.items():
        getattr(kind, "set_" + name)(*(value if isinstance(value, tuple) else (value,)))
    return kind


def enumeration(**values: int) -> h5t.TypeID:
    kind = h5t.enum_create(h5t.STD_I32LE)
    for name, value in values.items():
        kind.enum_insert(name.encode(), value)
    return kind


def opaque(tag: bytes) -> h5t.TypeID:
    kind = h5t.create(h5t.OPAQUE, 4)
    kind.set_tag(tag)
    return kind


def string(padding: int, characters: int) -> h5t.TypeID:
    return changed(h5t.C_S1, size=4, strpad=padding, cset=characters)


def compound(second: h5t.TypeID) -> h5t.TypeID:
    kind = h5t.create(h5t.COMPOUND, 8)
    kind.insert(b"a", 0, h5t.STD_I32LE)
    kind.insert(b"b", 4, second)
    return kind


def pairs() -> dict[str, tuple[h5t.TypeID, h5t.TypeID, str]]:
    """Of types of one size: the one in the log, another, and what is told of the first only."""
    real = h5t.IEEE_F32LE
    colours = enumeration(RED=0, GREEN=1)
    null, space = h5t.STR_NULLPAD, h5t.STR_SPACEPAD
    ascii_, utf8 = h5t.CSET_ASCII, h5t.CSET_UTF8
    wide, high = (h5t.array_create(h5t.STD_I16LE, extents) for extents in ((2, 3), (3, 2)))
    biased = changed(real, ebias=100)
    return {
        "bias": (real, biased, "bias 127"),
        "fields": (real, changed(real, fields=(31, 22, 9, 0, 22)), "e8@23"),
        "sign": (real, changed(real, fields=(0, 24, 8, 1, 23)), "s31"),
        "norm": (real, changed(real, norm=h5t.NORM_NONE), "implied"),
        "names": (colours, enumeration(RED=1, GREEN=0), "GREEN = 01000000, RED = 00000000"),
        "more": (colours, enumeration(RED=0, GREEN=1, BLUE=2), "(GREEN = 01000000"),
        "tag": (opaque(b"one"), opaque(b"two"), 'opaque "one"'),
        "padding": (string(null, ascii_), string(space, ascii_), "null-padded ASCII"),
        "characters": (string(null, utf8), string(null, ascii_), "null-padded UTF-8"),
        "extents": (wide, high, "array of 2 x 3 2-byte"),
        "member": (compound(real), compound(biased), "bias 127"),
    }


def make(f: h5py.File, kind: h5t.TypeID) -> h5py.Dataset:
    return h5py.Dataset(h5d.create(f.id, b"d", kind, h5s.create_simple((40, 40))))


def write(what: str) -> None:
    kind = pairs()[what][0]
    with h5py.File("x.h5", "w") as f:
        d = make(f, kind)
        space = d.id.get_space()
        space.select_hyperslab((0, 0), (40, 20), (1, 2))
        values = np.zeros((40, 20), f"V{kind.get_size()}")
        d.id.write(h5s.create_simple((40, 20)), space, values, mtype=kind)


def replace(what: str) -> None:
    with h5py.File("x.h5") as f:
        mark = f.attrs["_headrace_log"]
    with h5py.File("x.h5", "w") as f:
        make(f, pairs()[what][1])
        f.attrs["_headrace_log"] = mark


@pytest.mark.parametrize("what", pairs())
def test_types_of_one_size(layer: Layer, what: str) -> None:
    layer.python(partial(write, what), "canonicalise=later;")
    assert layer.counted("writes_logged") == 1
    layer.python("h5py.File('x.h5')['d'].id.get_type()")
    layer.plain(partial(replace, what))
    said = layer.start("h5py.File('x.h5', 'r+')").text
    told = pairs()[what][2]
    assert "dataset /d of file" in said, said
    before, _, in_log = said.partition("but in its log")
    assert told in in_log, said
    assert told not in before, said
