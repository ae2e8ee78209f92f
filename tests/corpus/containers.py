"""Features of whole files: several files in one, user blocks, file space, drivers."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from h5py import h5f, h5p

from corpus.registry import by_itself, in_file


@by_itself
def virtual(folder: Path) -> None:
    for number in range(3):
        with h5py.File(folder / f"virtual_source_{number}.h5", "w") as source:
            source["data"] = np.arange(10) + 100 * number
            source.create_dataset("grows", (4,), "i4", maxshape=(None,), chunks=(4,))[...] = number
    with h5py.File(folder / "virtual.h5", "w", libver=("v110", "v110")) as file:
        rows = h5py.VirtualLayout((4, 10), "i8")
        for number in range(4):  # the fourth source is missing: fill values
            rows[number] = h5py.VirtualSource(f"virtual_source_{number}.h5", "data", (10,))
        file.create_virtual_dataset("rows", rows, fillvalue=-1)
        parts = h5py.VirtualLayout((10,), "i8")
        first = h5py.VirtualSource("virtual_source_0.h5", "data", (10,))
        parts[0:10:2] = first[5:]
        file.create_virtual_dataset("parts", parts, fillvalue=7)
        inside = h5py.VirtualLayout((10,), "i8")
        inside[...] = h5py.VirtualSource(".", "rows", (4, 10))[1, :]
        file.create_virtual_dataset("of_virtual", inside)
        growing = h5py.VirtualLayout((4,), "i4", maxshape=(None,))
        source_grows = h5py.VirtualSource("virtual_source_1.h5", "grows", (4,), maxshape=(None,))
        growing[: h5py.h5s.UNLIMITED] = source_grows[: h5py.h5s.UNLIMITED]
        file.create_virtual_dataset("growing", growing)


@by_itself
def external_storage(folder: Path) -> None:
    with h5py.File(folder / "external_storage.h5", "w") as file:
        pieces = [("external_a.bin", 16, 24), ("external_b.bin", 0, 40)]
        file.create_dataset("pieces", (16,), "<i4", external=pieces)[...] = np.arange(16)
        endless = [("external_c.bin", 0, h5f.UNLIMITED)]
        file.create_dataset("endless", (6,), ">f8", external=endless)[...] = 0.5
        file.create_dataset("missing", (2,), "i4", external=[("external_none.bin", 0, 8)])


@by_itself
def user_blocks(folder: Path) -> None:
    for size in (512, 4096):
        name = folder / f"user_block_{size}.h5"
        with h5py.File(name, "w", userblock_size=size) as file:
            file["data"] = np.arange(5)
            file["chunked"] = h5py.Empty("i4")
        with name.open("r+b") as raw:
            raw.write(b"#!/bin/sh\necho this file has a user block\n")


@by_itself
def file_space(folder: Path) -> None:
    for strategy in ("fsm", "page", "aggregate", "none"):
        for persist in (False, True):
            if persist and strategy in ("aggregate", "none"):
                continue  # nothing to persist
            name = folder / f"space_{strategy}{'_persist' if persist else ''}.h5"
            with h5py.File(
                name, "w", libver=("v110", "v110"), fs_strategy=strategy, fs_persist=persist,
                fs_threshold=64, **({"fs_page_size": 1024} if strategy == "page" else {}),
            ) as file:  # fmt: skip
                for number in range(12):
                    file[f"data{number}"] = np.full(300, number, "<u2")
                for number in range(0, 12, 3):
                    del file[f"data{number}"]


@by_itself
def drivers(folder: Path) -> None:
    """Files in parts. The tools find these drivers by themselves, or are told by an option."""
    family = h5p.create(h5p.FILE_ACCESS)
    family.set_fapl_family(4096, h5p.DEFAULT)
    split = h5p.create(h5p.FILE_ACCESS)
    split.set_fapl_split(b"-m.h5", h5p.DEFAULT, b"-r.h5", h5p.DEFAULT)
    for name, access in (("family_%05d.h5", family), ("split", split)):
        made = h5f.create(str(folder / name).encode(), h5f.ACC_TRUNC, fapl=access)
        with h5py.File(made) as file:
            file["data"] = np.arange(3000, dtype="<i4")
            file["group/small"] = np.float32(0.25)


@in_file("swmr_ready.h5", libver=("v110", "v110"))
def swmr_ready(file: h5py.File) -> None:
    file.create_dataset("data", (40,), "i4", maxshape=(None,), chunks=(8,))[...] = np.arange(40)
    file.swmr_mode = True
    file["data"].resize((50,))
    file["data"].flush()


@in_file("sizes.h5")
def empty(file: h5py.File) -> None:
    """A file with nothing in it."""


@by_itself
def offsets_and_lengths(folder: Path) -> None:
    for offset, length in ((8, 4), (2, 8)):  # h5repack itself aborts on (4, 4)
        plist = h5p.create(h5p.FILE_CREATE)
        plist.set_sizes(offset, length)
        name = folder / f"sizes_{offset}_{length}.h5"
        with h5py.File(h5f.create(str(name).encode(), h5f.ACC_TRUNC, fcpl=plist)) as file:
            file["data"] = np.arange(10)
            file.attrs["text"] = "some"


@by_itself
def not_hdf5(folder: Path) -> None:
    """What is no HDF5 file, or no longer: the tools must complain with the same words."""
    (folder / "text.h5").write_text("no HDF5 file\n")
    (folder / "nothing.h5").write_bytes(b"")
    whole = (folder / "layouts_v110.h5").read_bytes()
    (folder / "truncated.h5").write_bytes(whole[: len(whole) // 2])
    damaged = bytearray(whole)
    damaged[len(whole) // 3 : len(whole) // 3 + 64] = bytes(64)
    (folder / "damaged.h5").write_bytes(damaged)
