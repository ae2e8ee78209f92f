"""Datatypes: every class, as datasets and as attributes."""

from __future__ import annotations

from collections.abc import Iterator

import h5py
import numpy as np
from h5py import h5a, h5d, h5r, h5s, h5t

from corpus.registry import in_each_format, in_file


def numeric_types() -> Iterator[tuple[str, h5t.TypeID]]:
    for size in (8, 16, 32, 64):
        for order in ("LE", "BE"):
            for kind in ("I", "U", "B"):
                name = f"STD_{kind}{size}{order}"
                yield name, getattr(h5t, name)
    for size in (16, 32, 64):
        for order in ("LE", "BE"):
            yield f"IEEE_F{size}{order}", getattr(h5t, f"IEEE_F{size}{order}")
    yield "long_double", h5t.NATIVE_LDOUBLE
    odd = h5t.STD_I32LE.copy()
    odd.set_precision(21)
    odd.set_offset(5)
    odd.set_pad(h5t.PAD_ONE, h5t.PAD_BACKGROUND)
    yield "int21_of_32", odd
    three = h5t.STD_U32BE.copy()
    three.set_precision(24)
    three.set_size(3)
    yield "uint24", three
    brain = h5t.IEEE_F32LE.copy()
    brain.set_fields(15, 7, 8, 0, 7)
    brain.set_precision(16)
    brain.set_ebias(127)
    brain.set_size(2)
    yield "bfloat16", brain
    implied = h5t.IEEE_F64LE.copy()
    implied.set_norm(h5t.NORM_NONE)
    implied.set_inpad(h5t.PAD_ONE)
    yield "float_without_implied_bit", implied


def put(parent: h5py.Group, name: str, kind: h5t.TypeID, raw: bytes) -> None:
    """The raw bytes as elements of the type: no conversion, so any type will do."""
    count = len(raw) // kind.get_size()
    data = np.frombuffer(raw[: count * kind.get_size()], dtype=f"V{kind.get_size()}")
    space = h5s.create_simple((count,))
    h5d.create(parent.id, name.encode(), kind, space).write(h5s.ALL, h5s.ALL, data, kind)
    h5a.create(parent.id, name.encode(), kind, space).write(data, kind)


@in_each_format("types_numeric")
def numeric(file: h5py.File) -> None:
    for name, kind in numeric_types():
        put(file, name, kind, bytes(range(96)))


@in_file("types_strings.h5")
def strings(file: h5py.File) -> None:
    for pad in ("NULLTERM", "NULLPAD", "SPACEPAD"):
        for charset in ("ASCII", "UTF8"):
            kind = h5t.C_S1.copy()
            kind.set_size(8)
            kind.set_strpad(getattr(h5t, f"STR_{pad}"))
            kind.set_cset(getattr(h5t, f"CSET_{charset}"))
            put(file, f"{pad}_{charset}", kind, "hi\0\0\0\0\0\0grün   eight_8\0".encode())
    for charset in ("ascii", "utf-8"):
        kind = h5py.string_dtype(charset)
        file.create_dataset(f"vlen_{charset}", data=["", "a", "long " * 40], dtype=kind)
        file.attrs.create(f"vlen_{charset}", ["x", "", "yz"], dtype=kind)
    file.attrs["scalar"] = "größer"
    file.create_dataset("never_written", (3,), dtype=h5py.string_dtype())


@in_each_format("types_compound")
def compound(file: h5py.File) -> None:
    colour = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": -5}, basetype="i2")
    inner = np.dtype({"names": ["x", "y"], "formats": ["<f4", ">i2"], "offsets": [4, 12]})
    nested = np.dtype(
        [("id", "u1"), ("inner", inner), ("tensor", "<i4", (2, 3)), ("colour", colour)]
    )
    data = np.zeros(5, nested)
    data["id"], data["inner"]["x"], data["tensor"] = range(5), 0.5, np.arange(6).reshape(2, 3)
    data["colour"] = [0, 1, -5, 0, 7]
    file["nested"] = data
    file.attrs["nested"] = data[1]
    file["complex_as_compound"] = np.array([1 + 2j, -0.0 - 1j], "c8")
    text = np.dtype([("name", h5py.string_dtype()), ("list", h5py.vlen_dtype("<u2"))])
    held = file.create_dataset("with_vlen", (2,), text)
    held[0] = ("first", np.arange(4, dtype="u2"))
    put(file, "opaque", opaque(b"a tag"), b"\x00\x01\xfe\xffopaque!!")
    file["boolean"] = np.array([True, False])
    file["enum"] = np.array([0, 1, -5], colour)
    put(file, "array", h5t.array_create(h5t.STD_I16BE, (2, 2)), bytes(range(24)))


def opaque(tag: bytes) -> h5t.TypeID:
    kind = h5t.create(h5t.OPAQUE, 4)
    kind.set_tag(tag)
    return kind


@in_file("types_vlen.h5")
def variable_length(file: h5py.File) -> None:
    ragged = file.create_dataset("ragged", (4,), h5py.vlen_dtype(">i4"))
    ragged[0], ragged[2] = [1, 2, 3], np.arange(300)
    deep = h5t.vlen_create(h5t.vlen_create(h5t.STD_I8LE))
    h5d.create(file.id, b"vlen_of_vlen", deep, h5s.create_simple((2,)))  # h5py cannot write it
    points = file.create_dataset("of_compound", (2,), h5py.vlen_dtype([("a", "i4"), ("b", "f8")]))
    points[1] = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")])
    chunked = file.create_dataset(
        "chunked", (6,), h5py.vlen_dtype("f4"), chunks=(2,), maxshape=(None,)
    )
    chunked[5] = [0.25]


@in_each_format("types_references")
def references(file: h5py.File) -> None:
    target = file.create_dataset("group/target", data=np.arange(40).reshape(5, 8))
    file["named"] = np.dtype("i4")
    objects = file.create_dataset("objects", (4,), h5py.ref_dtype)  # the last stays null
    for place, name in enumerate(("group", "group/target", "named")):
        objects[place] = file[name].ref
    regions = file.create_dataset("regions", (3,), h5py.regionref_dtype)
    regions[0] = target.regionref[1:3, ::3]
    points = h5s.create_simple((5, 8))
    points.select_elements(np.array([[0, 0], [4, 7], [2, 2]], dtype=np.uint64))
    regions[1] = h5r.create(target.id, b".", h5r.DATASET_REGION, points)
    file.attrs["object"] = target.ref
    file.attrs["region"] = target.regionref[...]
    scale = file.create_dataset("scale", data=np.arange(8.0))
    scale.make_scale("columns")
    target.dims[1].attach_scale(scale)
    target.dims[0].label = "rows"


@in_file("types_complex_2_0.h5", libver=("v200", "v200"))
def native_complex(file: h5py.File) -> None:
    """Readable from HDF5 2.0 on: older tools must refuse it the same way with and without us."""
    for name in ("F16LE", "F32BE", "F64LE"):
        put(file, name, getattr(h5t, f"COMPLEX_IEEE_{name}"), bytes(range(64)))
