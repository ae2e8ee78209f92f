"""Region references of HDF5 1.8: what one process writes another one reads as natively."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from harness.layer import Layer


def write() -> None:
    with h5py.File("x.h5", "w") as file:
        grid = file.create_dataset(
            "g/grid", data=np.arange(100).reshape(10, 10), maxshape=(None, 10)
        )
        line = file.create_dataset("line", data=np.arange(50) * 3, chunks=(7,), maxshape=(None,))
        file["point"] = 4.5
        file["cube"] = np.arange(60).reshape(3, 4, 5)
        mask = np.zeros((10, 10), bool)
        mask[[1, 5, 9], [1, 6, 0]] = True
        regions = [
            grid.regionref[2:4, 3:7],
            grid.regionref[1:9:3, ::4],
            grid.regionref[mask],
            line.regionref[[0, 2, 40]],
            file["point"].regionref[()],
            file["cube"].regionref[..., 2],
            line.regionref[:0],
        ]
        file.attrs["one"] = regions[0]
        file["g"].attrs.create("all", np.array(regions, h5py.regionref_dtype))
        listed = file.create_dataset("listed", (3, 3), h5py.regionref_dtype, fillvalue=None)
        for i, region in enumerate(regions):
            listed[i // 3, i % 3] = region  # the last two lead nowhere
        packed = file.create_dataset(
            "packed", (6,), h5py.regionref_dtype, chunks=(2,), compression="gzip"
        )
        packed[:4] = np.array(regions[:4], h5py.regionref_dtype)
        row = np.dtype(
            [("n", "i4"), ("r", h5py.regionref_dtype), ("o", h5py.ref_dtype), ("x", "f8")]
        )
        rows = file.create_dataset("rows", (3,), row)
        rows[0] = (5, regions[1], line.ref, 2.5)
        rows[2] = (7, regions[5], None, -1.0)
        pair = file.create_dataset("pair", (2,), np.dtype((h5py.regionref_dtype, (2,))))
        pair[0] = np.array(regions[:2], h5py.regionref_dtype)
        grid.resize((12, 10))


def show() -> None:
    with h5py.File("x.h5", "r") as file:

        def tell(where: str, reference: h5py.RegionReference) -> None:
            if not reference:
                print(where, "leads nowhere")
                return
            target = file[reference]
            region = h5py.h5r.get_region(reference, file.id)
            kind = region.get_select_type()
            print(where, target.name, region.shape, region.get_select_npoints(), kind)
            if region.get_select_npoints() > 0 and region.shape:
                print(region.get_select_bounds(), target[reference])

        tell("attribute", file.attrs["one"])
        for reference in file["g"].attrs["all"]:
            tell("attribute of many", reference)
        for name in ("listed", "packed", "pair"):
            for reference in file[name][...].ravel():
                tell(name, reference)
        for n, reference, target, x in file["rows"][...]:
            tell(f"row {n} {x} {file[target].name if target else None}", reference)
        print(file["listed"].dtype, file["rows"].dtype, file["listed"].fillvalue)


def under_and_natively(layer: Layer, *programs: Callable[[], None]) -> tuple[list[str], list[str]]:
    """What each of them prints in a process of its own."""
    natively = [layer.plain(program) for program in programs]
    (layer.folder / "x.h5").unlink()
    under = [layer.python(program).out.decode().strip() for program in programs]
    assert (layer.folder / "x.h5").stat().st_size < 1000  # a stub
    return under, natively


def test_another_process_finds_the_regions(object_layer: Layer) -> None:
    under, natively = under_and_natively(object_layer, write, show)
    assert "(12, 10)" in under[1]
    assert under[1].count("leads nowhere") == 7
    assert under == natively


def follow_extent() -> None:
    with h5py.File("x.h5", "w") as file:
        data = file.create_dataset("data", data=np.arange(20), maxshape=(None,), chunks=(4,))
        region = data.regionref[3:9]

        def shape() -> tuple[int, ...]:
            found: tuple[int, ...] = h5py.h5r.get_region(region, file.id).shape
            return found

        print(shape())
        for size in (30, 10, 1000):
            data.resize((size,))
            print(shape(), data[region])
        file["regions"] = np.array([region], h5py.regionref_dtype)
        data.resize((11,))
        print(h5py.h5r.get_region(file["regions"][0], file.id).shape)


def test_a_region_has_the_extent_that_its_dataset_has_now(object_layer: Layer) -> None:
    under, natively = under_and_natively(object_layer, follow_extent)
    assert under == natively


def keep_references() -> None:
    with h5py.File("x.h5", "w") as file:
        file["data"] = np.arange(20)
        made = file["data"].regionref[2:5]
        file.attrs["region"] = file["data"].regionref[7:9]
        read = file.attrs["region"]
        with h5py.File("x.h5") as other:
            print(other["data"][made], other["data"][read])
    with h5py.File("x.h5", "a") as file:
        print(file["data"][made], file["data"][read])
        file.attrs["made"] = made
        print(file["data"][file.attrs["made"]])


def test_references_outlive_the_opening_they_are_of(object_layer: Layer) -> None:
    under, natively = under_and_natively(object_layer, keep_references)
    assert under[0].startswith("[2 3 4] [7 8]\n[2 3 4] [7 8]")
    assert under == natively


def mix_files_up() -> None:
    with h5py.File("x.h5", "w") as file, h5py.File("y.h5", "w") as other:
        for one in (file, other):
            one["data"] = np.arange(20)
        try:
            other.attrs["region"] = file["data"].regionref[2:5]
        except OSError as error:
            print(error)
        read = other["data"].regionref[3:4]
        print(other["data"][read])


def test_a_reference_of_another_file_is_refused(object_layer: Layer) -> None:
    out = object_layer.python(mix_files_up).out.decode()
    assert "it was made for another file" in out
    assert "[3]" in out


def write_sequences() -> None:
    with h5py.File("x.h5", "w") as file:
        file["data"] = np.arange(100).reshape(10, 10)
        regions = [file["data"].regionref[i, : i + 1] for i in range(5)]
        lists = file.create_dataset("lists", (3,), h5py.vlen_dtype(h5py.regionref_dtype))
        lists[0] = np.array(regions[:3], h5py.regionref_dtype)
        lists[2] = np.array(regions[3:], h5py.regionref_dtype)


def show_sequences() -> None:
    """By HDF5 itself: h5py makes no arrays of such sequences that can be relied on."""
    [path] = set(re.findall(r"/\S*libhdf5-\S+", Path("/proc/self/maps").read_text()))
    library = ctypes.CDLL(path)

    class Sequence(ctypes.Structure):
        _fields_ = (("length", ctypes.c_size_t), ("first", ctypes.c_void_p))

    library.H5Dread.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    library.H5Rget_region.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_void_p]
    library.H5Rget_region.restype = ctypes.c_int64
    with h5py.File("x.h5", "r") as file:
        lists = file["lists"]
        kind = lists.id.get_type()
        read = (Sequence * 3)()
        assert library.H5Dread(lists.id.id, kind.id, 0, 0, 0, read) >= 0
        for one in read:
            for i in range(one.length):
                region = library.H5Rget_region(file.id.id, 1, one.first + 12 * i)
                print(i, h5py.h5s.SpaceID(region).get_select_bounds())
            print(one.length)


def test_sequences_of_references(object_layer: Layer) -> None:
    under, natively = under_and_natively(object_layer, write_sequences, show_sequences)
    assert "((4, 0), (4, 4))" in under[1]
    assert under == natively


def read_many() -> None:
    with h5py.File("x.h5", "w") as file:
        file["data"] = np.arange(5000)
        many = file.create_dataset("many", (3000,), h5py.regionref_dtype)
        many[...] = np.array(
            [file["data"].regionref[i : i + 2] for i in range(3000)], h5py.regionref_dtype
        )
    with h5py.File("x.h5") as file:
        for _ in range(2):
            read = file["many"][...]
            first = [h5py.h5r.get_region(one, file.id).get_select_bounds()[0][0] for one in read]
            print(first == list(range(3000)))
        one_by_one = [file["many"][i] for i in range(0, 3000, 7)]
        print([int(file["data"][one][0]) for one in one_by_one] == list(range(0, 3000, 7)))


def test_many_references(object_layer: Layer) -> None:
    assert object_layer.python(read_many).out.decode().split() == ["True"] * 3


def make_two() -> None:
    for name, size in ("a", 10), ("b", 20):
        with h5py.File(f"{name}.h5", "w") as file:
            data = file.create_dataset("data", data=np.arange(size))
            file["regions"] = np.array([data.regionref[size - 4 :]], h5py.regionref_dtype)


def take_turns() -> None:
    """The native file of one opening is free again while another one reads references."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in maps if "libhdf5-" in line))
    numbers = ctypes.c_int64
    for name in "H5Fopen", "H5Dopen2":
        getattr(library, name).restype = numbers
    regions = numbers.in_dll(library, "H5T_STD_REF_DSETREG_g")
    first = h5py.File("a.h5", "r")
    assert list(first) == ["data", "regions"]  # of which HDF5 asks its native file
    second = numbers(library.H5Fopen(b"a.h5", 0, numbers(0)))
    first.close()
    opened = numbers(library.H5Dopen2(second, b"regions", numbers(0)))
    found = ctypes.create_string_buffer(12)
    every = [numbers(0)] * 3
    assert library.H5Dread(opened, regions, *every, found) >= 0
    assert any(found.raw)
    assert library.H5Dclose(opened) >= 0
    assert library.H5Fclose(second) >= 0
    with h5py.File("b.h5") as b, h5py.File("a.h5") as a:
        for file, size in (a, 10), (b, 20):
            reference = file["regions"][0]
            assert h5py.h5r.get_region(reference, file.id).shape == (size,)
            assert file["data"][reference].tolist() == list(range(size - 4, size))


def test_files_that_take_turns_keep_their_references(object_layer: Layer) -> None:
    object_layer.python(make_two)
    object_layer.python(take_turns)
