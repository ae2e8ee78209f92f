"""Links are listed as natively: amid changes, and where there are more than are read at once."""

from __future__ import annotations

from collections.abc import Callable

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


@pytest.mark.parametrize("program", [show_by_index, rename_while_listing])
def test_what_is_listed_is_what_a_file_lists(
    object_layer: Layer, program: Callable[[], None]
) -> None:
    told = []
    for options in (None, ...):
        object_layer.python(write_many, options)
        told.append(object_layer.python(program, options).out.decode().splitlines())
        (object_layer.folder / "x.h5").unlink()
    assert len(told[0]) >= 2
    assert told[0] == told[1]
