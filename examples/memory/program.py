"""What a program sees of a file by h5py, in words. Under the connector it is to see the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np

NAME = "m.h5"
TYPES = ("i1", "u2", ">i4", "u8", "f4", ">f8", "?", "c16", "S5", [("a", "i4"), ("b", "f8")])


def show(*what: Any) -> None:
    print(*(one.tolist() if isinstance(one, np.ndarray | np.generic) else one for one in what))


def values(random: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    numbers = random.integers(0, 100, shape)
    if isinstance(dtype, list):
        made = np.zeros(shape, dtype)
        made["a"], made["b"] = numbers, numbers / 4
        return made
    return numbers.astype(dtype)


def write_datasets(file: h5py.File) -> None:
    random = np.random.default_rng(7)
    for number, dtype in enumerate(TYPES):
        for shape in ((), (0,), (9,), (4, 6), (3, 4, 5)):
            data = values(random, dtype, shape)
            path = f"types/{number}/{len(shape)}_{data.size}"
            dataset = file.create_dataset(path, shape, dtype)
            dataset[...] = data
            if len(shape) > 0 and shape[0] > 2:
                dataset[1:3] = dataset[0:2]
                dataset[..., ::2] = dataset[..., 0:1]
                dataset[[0, 2]] = dataset[[1, 2]]
                mask = random.integers(0, 2, shape).astype(bool)
                dataset[mask] = dataset[...][mask][::-1]
            assert dataset.dtype == np.dtype(dtype)
            assert dataset.shape == shape


def write_fill_values(file: h5py.File) -> None:
    pair = np.dtype([("a", "i4"), ("s", "S3")])
    for number, (dtype, fill) in enumerate(
        (("i2", 7), (">f4", 1.5), ("S5", b"none"), (pair, np.array((7, b"abc"), pair)))
    ):
        dataset = file.create_dataset(f"fill/{number}", (4,), dtype, fillvalue=fill)
        dataset[1] = np.zeros((), dtype)
    strings = file.create_dataset("fill/strings", (4,), h5py.string_dtype(), fillvalue="nothing")
    show(strings.fillvalue, strings[...])
    strings[1:3] = ["", "another"]
    strings[1] = "longer than before"


def write_attributes(file: h5py.File) -> None:
    group = file.create_group("attributes")
    group.attrs["text"] = "grüße"
    group.attrs["list"] = ["a", "longer"]
    group.attrs["empty"] = h5py.Empty("f4")
    for number, dtype in enumerate(TYPES):
        group.attrs[f"n{number}"] = values(np.random.default_rng(number), dtype, (3,))
    group.attrs.modify("n0", np.arange(3, dtype="i1"))
    h5py.h5a.rename(group.id, b"n1", b"renamed")
    del group.attrs["n2"]


def write_links(file: h5py.File) -> None:
    file.require_group("g/h").create_dataset("x", data=np.arange(5))
    file["hard"] = file["g/h/x"]
    file["soft"] = h5py.SoftLink("/g/moved/x")
    file["dangling"] = h5py.SoftLink("/nowhere")
    file.move("g/h", "g/moved")
    file["gone"] = 1
    del file["gone"]


def described(name: str, one: Any) -> tuple[Any, ...]:
    if isinstance(one, h5py.Dataset):
        return name, "dataset", one.shape, str(one.dtype), one.maxshape, one.nbytes
    return name, "group", sorted(one)


def read(file: h5py.File) -> None:
    file.visititems(lambda name, one: show(*described(name, one)))
    file.visititems(
        lambda name, one: show(name, one[()]) if isinstance(one, h5py.Dataset) else None
    )
    for name, value in sorted(file["attributes"].attrs.items()):
        show(name, value if not isinstance(value, h5py.Empty) else str(value.dtype))
    show(file["hard"] == file["g/moved/x"], file["g"] == file["types"], file["g"] == file["/g/"])
    show(len({file["hard"], file["g/moved/x"], file["g"], file["types"]}))
    show(file["hard"].name, file["g/moved/x"][0] == file["hard"][0])
    show("dangling" in file, file.get("dangling", getlink=True).path, "nothing" in file)
    show(
        file["hard"].astype("f8")[1:3],
        file["hard"][:: -1 if False else 2],
        file["hard"].parent.name,
    )
    show(file.mode, file.name, len(file), file["g"].parent.name, file.filename)


def failures(file: h5py.File) -> None:
    """Errors of the same kind as HDF5's."""
    for attempt in (
        lambda: file["nothing"],
        lambda: file["dangling"],
        lambda: file["attributes"].attrs["nothing"],
        lambda: file.create_group("g"),
        lambda: file.__setitem__("hard", 1),
        lambda: file["hard"].__getitem__(99),
        lambda: h5py.File("missing.h5"),
        lambda: h5py.File(NAME, "x"),
    ):
        try:
            attempt()
            show("no error")
        except Exception as error:
            kinds = (KeyError, IndexError, ValueError, OSError)
            show([kind.__name__ for kind in kinds if isinstance(error, kind)])


def main() -> None:
    with h5py.File(NAME, "w") as file:
        write_datasets(file)
        write_fill_values(file)
        write_attributes(file)
        write_links(file)
        file.flush()
        read(file)
    with h5py.File(NAME, "r+") as file:
        read(file)
        failures(file)
        file["g/moved/x"][1] = -1
    with h5py.File(NAME) as file:
        show(file["soft"][...])
        try:
            file["hard"][0] = 1
        except OSError:
            show("read-only")
    print("on disk" if Path(NAME).exists() else "in memory", file=sys.stderr)


if __name__ == "__main__":
    main()
