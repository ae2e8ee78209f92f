"""Programs with random virtual datasets. What they print is the same for each kind of file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s

Rng = np.random.Generator
TYPES = ["i4", "f8", ">i2", "u1"]
UNLIMITED = h5s.UNLIMITED


def tell(what: str, act: Any) -> None:
    """What comes of it, or that it fails."""
    try:
        got = act()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        print(what, "fails", file=sys.stdout)
        print(what, error, file=sys.stderr)
        return
    if isinstance(got, np.ndarray):
        print(what, got.shape, got.dtype.str, got.ravel().tolist())
    else:
        print(what, got)


def source_file(rng: Rng, name: str) -> h5py.File:
    """One with room in front stays a file under the layer."""
    return h5py.File(name, "w", userblock_size=int(rng.choice([0, 512])))


def slab(rng: Rng, count: list[int], block: list[int]) -> dict[str, tuple[int, ...]]:
    """Somewhere near the origin."""
    return {
        "start": tuple(int(rng.integers(0, 4)) for _ in count),
        "count": tuple(count),
        "stride": tuple(b + int(rng.integers(0, 3)) for b in block),
        "block": tuple(block),
    }


def dims_for(one: dict[str, tuple[int, ...]]) -> list[int]:
    return [
        s + (c - 1) * t + b
        for s, c, t, b in zip(*(one[k] for k in ("start", "count", "stride", "block")), strict=True)
    ]


def space_with(dims: list[int], one: dict[str, tuple[int, ...]], most: Any = None) -> h5s.SpaceID:
    space = h5s.create_simple(tuple(dims), most)
    space.select_hyperslab(one["start"], one["count"], one["stride"], one["block"])
    return space


def random_part(rng: Rng, dims: tuple[int, ...]) -> h5s.SpaceID:
    space = h5s.create_simple(dims)
    if not all(dims):
        return space
    for i in range(rng.integers(0, 3)):
        start = tuple(int(rng.integers(0, d)) for d in dims)
        stride = tuple(int(rng.integers(1, 4)) for _ in dims)
        count = tuple((d - s + t - 1) // t for d, s, t in zip(dims, start, stride, strict=True))
        space.select_hyperslab(start, count, stride, op=h5s.SELECT_OR if i else h5s.SELECT_SET)
    return space


def read(dataset: h5d.DatasetID, rng: Rng, dtype: str) -> np.ndarray:
    """Natively memory stays as it is where no mapping is and another place has two."""
    dims = dataset.get_space().shape
    usual = np.zeros((), "i4")
    dataset.get_create_plist().get_fill_value(usual)
    if rng.integers(0, 2):
        data = np.full(dims, usual, dtype)
        dataset.read(h5s.ALL, h5s.ALL, data)
        return data
    part = random_part(rng, dims)
    count = part.get_select_npoints()
    data = np.full(2 * count + 1, 99, dtype)
    data[1::2] = usual
    memory = h5s.create_simple((2 * count + 1,))
    if count:
        memory.select_hyperslab((1,), (count,), (2,))
    else:
        memory.select_none()
    dataset.read(memory, part, data)
    return data


def write(dataset: h5d.DatasetID, rng: Rng) -> None:
    dtype = dataset.dtype  # natively no other is converted
    part = random_part(rng, dataset.get_space().shape)
    count = part.get_select_npoints()
    data = rng.integers(0, 90, count).astype(dtype)
    dataset.write(h5s.create_simple((count,)), part, data)


def use(file: h5py.File, dapl: h5p.PropDAID, rng: Rng, changes: Any, writes: bool = True) -> None:
    """Without writes where mappings overlap, which natively lose what no mapping has."""
    dataset = h5d.open(file.id, b"v", dapl)
    tell("space", lambda: dataset.get_space().shape)
    for _ in range(3):
        dtype = str(rng.choice(TYPES))
        tell("read", lambda: read(dataset, rng, dtype))  # noqa: B023
    if writes:
        tell("write", lambda: write(dataset, rng))
    changes()
    tell("space", lambda: dataset.get_space().shape)
    tell("read", lambda: read(dataset, rng, "i4"))
    tell("size", lambda: (dataset.get_storage_size(), dataset.get_space_status()))
    tell("offset", dataset.get_offset)
    tell("chunks", dataset.get_num_chunks)
    dcpl = dataset.get_create_plist()
    for i in range(dcpl.get_virtual_count()):
        tell("mapping", lambda: (dcpl.get_virtual_filename(i), dcpl.get_virtual_dsetname(i)))  # noqa: B023
        space = dcpl.get_virtual_vspace(i)
        tell("selects", lambda: (space.get_select_bounds(), space.get_select_npoints()))  # noqa: B023


def list_for(rng: Rng) -> h5p.PropDCID:
    dcpl = h5p.create(h5p.DATASET_CREATE)
    if rng.integers(0, 2):
        dcpl.set_fill_value(np.array(7, "i4"))
    return dcpl


def made(name: str, dcpl: h5p.PropDCID, dims: list[int], most: Any, rng: Rng) -> h5py.File:
    file = h5py.File(name, "w")
    dtype = h5py.h5t.py_create(np.dtype(str(rng.choice(TYPES))))
    h5d.create(file.id, b"v", dtype, h5s.create_simple(tuple(dims), most), dcpl)
    if rng.integers(0, 2):
        return file
    file.close()
    return h5py.File(name, str(rng.choice(["r", "r+"])))


def fixed(rng: Rng, number: int) -> None:
    rank = int(rng.integers(1, 4))
    dcpl = list_for(rng)
    dims = [1] * rank
    slabs: list[Any] = []
    apart = bool(rng.integers(0, 2))
    for i in range(int(rng.integers(1, 5))):
        count = [int(rng.integers(1, 4)) for _ in range(rank)]
        block = [int(rng.integers(1, 4)) for _ in range(rank)]
        here, there = slab(rng, count, block), slab(rng, count, block)
        if apart and slabs:
            here["start"] = (here["start"][0] + dims[0], *here["start"][1:])
        dims = [max(a, b) for a, b in zip(dims, dims_for(here), strict=True)]
        slabs.append((i, here, there))
    dims = [d + int(rng.integers(0, 2)) for d in dims]
    for i, here, there in slabs:
        size = [d + int(rng.integers(0, 2)) for d in dims_for(there)]
        name = f"s{number}_{i}.h5"
        with source_file(rng, name) as f:
            if rng.integers(0, 5):
                data = rng.integers(0, 90, size)
                f.create_dataset("d", data=data.astype(str(rng.choice(TYPES))))
        if not rng.integers(0, 6):
            Path(name).unlink()
        vspace, space = space_with(dims, here), space_with(size, there)
        dcpl.set_virtual(vspace, name.encode(), b"d", space)
    with made(f"v{number}.h5", dcpl, dims, None, rng) as f:
        use(f, h5p.create(h5p.DATASET_ACCESS), rng, lambda: None, apart or len(slabs) == 1)
    for i, *_ in slabs:
        if Path(f"s{number}_{i}.h5").exists():
            with h5py.File(f"s{number}_{i}.h5") as f:
                if "d" in f:
                    tell("source", f["d"][...].__array__)


def view_for(rng: Rng) -> h5p.PropDAID:
    dapl = h5p.create(h5p.DATASET_ACCESS)
    dapl.set_virtual_view(int(rng.choice([h5d.VDS_FIRST_MISSING, h5d.VDS_LAST_AVAILABLE])))
    dapl.set_virtual_printf_gap(int(rng.integers(0, 3)))
    return dapl


def growing(rng: Rng, number: int) -> None:
    """Two mappings side by side, unlimited in the first dimension.

    Each selects a whole block of its source at least: HDF5 counts less as one, and crashes.
    """
    dcpl, dapl = list_for(rng), view_for(rng)
    sources = []
    for i in range(2):
        name, rows = f"s{number}_{i}.h5", int(rng.integers(6, 15))
        with source_file(rng, name) as f:
            f.create_dataset("d", data=rng.integers(0, 90, (rows, 3)), maxshape=(None, 3))
        sources.append(name)
        spaces = []
        for columns in (6, 3):
            space = h5s.create_simple((rows, columns), (UNLIMITED, columns))
            block = int(rng.integers(1, 4))
            first = (int(rng.integers(0, 3)), 3 * i if columns == 6 else 0)
            if columns == 6 and dapl.get_virtual_view() == h5d.VDS_FIRST_MISSING:
                first = (0, 3 * i)
            if rng.integers(0, 2):
                space.select_hyperslab(
                    first, (UNLIMITED, 1), (block + int(rng.integers(0, 2)), 1), (block, 3)
                )
            else:
                space.select_hyperslab(first, (1, 1), None, (UNLIMITED, 3))
            spaces.append(space)
        dcpl.set_virtual(spaces[0], name.encode(), b"d", spaces[1])
    with made(f"v{number}.h5", dcpl, [2, 6], (UNLIMITED, 6), rng) as f:

        def grow() -> None:
            for name in sources:
                with h5py.File(name, "r+") as s:
                    s["d"].resize(int(rng.integers(6, 20)), 0)

        use(f, dapl, rng, grow if f.mode == "r+" and not rng.integers(0, 2) else lambda: None)


def blocks(rng: Rng, number: int) -> None:
    """A file or a dataset for each block."""
    dcpl, dapl = list_for(rng), view_for(rng)
    length, gap = int(rng.integers(1, 4)), int(rng.integers(0, 2))
    in_one = bool(rng.integers(0, 2))

    def add(i: int) -> None:
        name = f"s{number}%.h5" if in_one else f"s{number}%_{i}.h5"
        old = Path(name).exists()
        with h5py.File(name, "a") if old else source_file(rng, name) as f:
            f[f"d{i}" if in_one else "d"] = rng.integers(0, 90, (length, 2))

    for i in range(6):
        if rng.integers(0, 4):
            add(i)
    here = h5s.create_simple((9, 2), (UNLIMITED, 2))
    here.select_hyperslab(
        (int(rng.integers(0, 2)), 0), (UNLIMITED, 1), (length + gap, 1), (length, 2)
    )
    name = f"s{number}%%.h5" if in_one else f"s{number}%%_%b.h5"
    there = h5s.create_simple((length, 2))
    dcpl.set_virtual(here, name.encode(), b"d%b" if in_one else b"d", there)
    with made(f"v{number}.h5", dcpl, [int(rng.integers(1, 9)), 2], (UNLIMITED, 2), rng) as f:
        use(f, dapl, rng, lambda: None if in_one else add(7))


def main(first: int, last: int) -> None:
    for number in range(first, last):
        for kind in fixed, growing, blocks:
            rng = np.random.default_rng([number, len(kind.__name__)])
            print(kind.__name__, number)
            kind(rng, f"{kind.__name__}{number}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
