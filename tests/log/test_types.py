"""A log fits a dataset only if the bytes of an element mean the same in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from log_layer import Log

MAKE = """
    from h5py import h5t, h5s, h5d
    def changed(kind, **values):
        kind = kind.copy()
        for name, value in values.items():
            getattr(kind, "set_" + name)(*(value if isinstance(value, tuple) else (value,)))
        return kind
    def enumeration(**values):
        kind = h5t.enum_create(h5t.STD_I32LE)
        for name, value in values.items():
            kind.enum_insert(name.encode(), value)
        return kind
    def opaque(tag):
        kind = h5t.create(h5t.OPAQUE, 4)
        kind.set_tag(tag)
        return kind
    def string(padding, characters=h5t.CSET_ASCII):
        return changed(h5t.C_S1, size=4, strpad=padding, cset=characters)
    def compound(second):
        kind = h5t.create(h5t.COMPOUND, 8)
        kind.insert(b"a", 0, h5t.STD_I32LE)
        kind.insert(b"b", 4, second)
        return kind
    def make(path, kind, mark=None):
        with h5py.File(path, "w") as f:
            d = h5py.Dataset(h5d.create(f.id, b"d", kind, h5s.create_simple((40, 40))))
            if mark is not None:
                f.attrs["_headrace_log"] = mark
                return
            space = d.id.get_space()
            space.select_hyperslab((0, 0), (40, 20), (1, 2))
            values = np.zeros((40, 20), f"V{kind.get_size()}")
            d.id.write(h5s.create_simple((40, 20)), space, values, mtype=kind)
"""
FLOAT = "h5t.IEEE_F32LE"
ENUM = "enumeration(RED=0, GREEN=1)"
PAIRS = {
    "bias": (FLOAT, f"changed({FLOAT}, ebias=100)", "bias 127"),
    "fields": (FLOAT, f"changed({FLOAT}, fields=(31, 22, 9, 0, 22))", "e8@23"),
    "sign": (FLOAT, f"changed({FLOAT}, fields=(0, 24, 8, 1, 23))", "s31"),
    "norm": (FLOAT, f"changed({FLOAT}, norm=h5t.NORM_NONE)", "implied"),
    "names": (ENUM, "enumeration(RED=1, GREEN=0)", "GREEN = 01000000, RED = 00000000"),
    "more": (ENUM, "enumeration(RED=0, GREEN=1, BLUE=2)", "(GREEN = 01000000"),
    "tag": ("opaque(b'one')", "opaque(b'two')", 'opaque "one"'),
    "padding": ("string(h5t.STR_NULLPAD)", "string(h5t.STR_SPACEPAD)", "null-padded ASCII"),
    "characters": (
        "string(h5t.STR_NULLPAD, h5t.CSET_UTF8)", "string(h5t.STR_NULLPAD)", "null-padded UTF-8",
    ),
    "extents": (
        "h5t.array_create(h5t.STD_I16LE, (2, 3))", "h5t.array_create(h5t.STD_I16LE, (3, 2))",
        "array of 2 x 3 2-byte",
    ),
    "member": (f"compound({FLOAT})", f"compound(changed({FLOAT}, ebias=100))", "bias 127"),
}  # fmt: skip


@pytest.mark.parametrize("what", PAIRS)
def test_types_of_one_size(layer: Log, what: str) -> None:
    logged, other, told = PAIRS[what]
    layer.python(MAKE + f"    make('x.h5', {logged})", "canonicalise=later;")
    assert layer.counted("writes_logged") == 1
    layer.python("h5py.File('x.h5')['d'].id.get_type()")
    layer.plain(
        MAKE
        + f"""
    with h5py.File("x.h5") as f:
        mark = f.attrs["_headrace_log"]
    make("x.h5", {other}, mark)
    """
    )
    said = layer.start("h5py.File('x.h5', 'r+')").text
    assert "dataset /d of file" in said, said
    before, _, in_log = said.partition("but in its log")
    assert told in in_log, said
    assert told not in before, said
