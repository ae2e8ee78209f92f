"""Links are listed as natively: amid changes, and where there are more than are read at once."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from harness.layer import Layer

COUNT = 2500


def write_many() -> None:
    with h5py.File("x.h5", "w", libver="latest") as f:  # older groups cannot change meanwhile
        g = f.create_group("g")
        for i in range(COUNT):
            g[f"{i * 7 % COUNT:05}"] = h5py.SoftLink("/nowhere")


def rename_while_listing() -> None:
    with h5py.File("x.h5", "r+") as f:
        group, seen = f["g"].id, []
        links = group.links

        def rename(name: bytes) -> None:
            seen.append(name)
            links.create_soft(name + b"-renamed", b"/nowhere")
            group.unlink(name)

        links.iterate(rename)
        print(seen == [b"%05d" % i for i in range(COUNT)], len(f["g"]))
        print(list(f["g"])[::500])


def show_by_index() -> None:
    with h5py.File("x.h5", "r+") as f:
        group = f["g"].id

        def show(first: int, most: int) -> None:
            seen: list[bytes] = []

            def take(name: bytes) -> bool | None:
                seen.append(name)
                return len(seen) == most or None

            try:
                group.links.iterate(take, idx=first)
            except (RuntimeError, ValueError) as error:
                print(type(error))
            print(seen[:3], seen[-3:], len(seen))

        for name in (b"01200-a", b"00000-a", b""):
            show(0, 2)
            show(1500, 1200)
            show(1100, 5)
            show(COUNT + 9, 5)
            print([group.get_objname_by_idx(i) for i in range(0, COUNT, 321)])
            if name:
                group.links.create_soft(name, b"/nowhere")


def write_in_order() -> None:
    both = h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED
    with h5py.File("x.h5", "w", libver="latest") as f:
        how = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        how.set_link_creation_order(both)
        group = h5py.h5g.create(f.id, b"g", gcpl=how)
        for i in range(COUNT):
            group.links.create_soft(b"%05d" % (i * 7 % COUNT), b"/nowhere")


def hdf5() -> ctypes.CDLL:
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in maps if "libhdf5-" in line))
    place: list[Any] = [
        ctypes.c_int64,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_uint64,
    ]
    library.H5Ldelete_by_idx.argtypes = [*place, ctypes.c_int64]
    library.H5Lget_name_by_idx.argtypes = [
        *place, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64]  # fmt: skip
    library.H5Lget_name_by_idx.restype = ctypes.c_ssize_t
    return library


def show_both_orders() -> None:
    library = hdf5()
    ways = list(
        itertools.product(
            (h5py.h5.INDEX_NAME, h5py.h5.INDEX_CRT_ORDER), (h5py.h5.ITER_INC, h5py.h5.ITER_DEC)
        )
    )

    def show_all(group: h5py.h5g.GroupID) -> None:
        count = group.get_num_objs()
        name = ctypes.create_string_buffer(64)
        for index, order in ways:
            for first in (0, 1, count // 2, count - 1, count, count + 9):
                seen: list[bytes] = []
                try:
                    group.links.iterate(seen.append, idx_type=index, order=order, idx=first)
                except (RuntimeError, ValueError) as error:
                    print(type(error))
                print(first, len(seen), seen[:3], seen[::211], seen[-3:])
                for at in (first, *range(0, count, 321)):
                    given = (group.id, b".", index, order, at, name, 64, 0)
                    print(library.H5Lget_name_by_idx(*given), name.value)

    with h5py.File("x.h5", "r+") as f:
        group = f["g"].id
        show_all(group)
        for i in range(900):
            group.links.create_soft(b"%05d-%d" % (i * 13 % COUNT, i), b"/nowhere")
        show_all(group)
        for index, order in ways:
            for at in (*range(150), *[7] * 150):
                assert library.H5Ldelete_by_idx(group.id, b".", index, order, at, 0) >= 0
        show_all(group)
    with h5py.File("x.h5", "r+") as f:
        show_all(f["g"].id)


@pytest.mark.parametrize("program", [show_by_index, rename_while_listing, show_both_orders])
def test_what_is_listed_is_what_a_file_lists(
    object_layer: Layer, program: Callable[[], None]
) -> None:
    write = write_in_order if program is show_both_orders else write_many
    told = []
    for options in (None, ...):
        object_layer.python(write, options)
        told.append(object_layer.python(program, options).out.decode().splitlines())
        (object_layer.folder / "x.h5").unlink()
    assert len(told[0]) >= 2
    assert told[0] == told[1]
