"""Random programs, each on a file under the connector and on one of native HDF5, compared.

python -m filters.dataset_programs COUNT: makes COUNT programs and ends with an error at the first
difference.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from filters.native_beside import native_file
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ENUM = h5py.enum_dtype({"red": 0, "green": 1, "blue": 7}, basetype="i2")
DTYPES: list[Any] = [
    np.dtype(text) for text in ("i1", "u2", "i4", ">i4", "i8", "f2", "f4", ">f8", "?", "S5", "c8")
] + [
    ENUM,
    np.dtype([("a", "i4"), ("b", ">f8"), ("c", "S3")]),
    np.dtype([("grid", "i2", (2, 3)), ("flag", "?")]),
    np.dtype(("f4", (3,))),
]
NUMBERS = [d for d in DTYPES if d.kind in "iuf" and d is not ENUM]  # no array has such a kind


COMPRESSIONS: list[Any] = [
    "lzf",
    hdf5plugin.Zstd(clevel=2),
    hdf5plugin.Blosc(cname="lz4", clevel=4, shuffle=hdf5plugin.Blosc.SHUFFLE),
    hdf5plugin.Blosc(cname="zstd", clevel=1, shuffle=hdf5plugin.Blosc.NOSHUFFLE),
    hdf5plugin.LZ4(nbytes=512),
]


@st.composite
def filters_of(draw: st.DrawFn) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "shuffle": draw(st.booleans()),
        "fletcher32": draw(st.booleans()),
    }
    kind = draw(st.sampled_from(["gzip", "gzip", "registered", "none"]))
    if kind == "gzip":
        chosen |= {"compression": "gzip", "compression_opts": draw(st.integers(0, 9))}
    elif kind == "registered":
        chosen["compression"] = draw(st.sampled_from(COMPRESSIONS))
    elif not chosen["shuffle"] and not chosen["fletcher32"]:
        chosen["shuffle"] = True
    return chosen


def values(seed: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Arrays that compress somewhat."""
    random = np.random.default_rng(seed)
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        return values(seed, shape + inner, base)
    if dtype.names is not None:
        array = np.empty(shape, dtype)
        for i, name in enumerate(dtype.names):
            array[name] = values(seed + i, shape, dtype[name])
        return array
    if dtype.kind == "S":
        return random.choice(np.array([b"", b"ab", b"abc", b"xyz12"]), shape).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if h5py.check_enum_dtype(dtype):
        return random.choice(np.array([0, 1, 7]), shape).astype(dtype)
    smooth = np.add.outer(np.arange(int(np.prod(shape))) // 7, 0).reshape(shape)
    return ((smooth + random.integers(0, 5, shape)) % 100).astype(dtype)


class Pair:
    """A dataset twice: under the connector and native."""

    def __init__(self, data: Any, ours: Any, native: Any) -> None:
        self.data = data
        self.files = (ours, native)
        rank = data.draw(st.integers(1, 3))
        self.dtype = data.draw(st.sampled_from(DTYPES))
        self.is_number = any(self.dtype is number for number in NUMBERS)
        shape = tuple(data.draw(st.integers(1, 60 // rank**2 + 3)) for _ in range(rank))
        chunks = tuple(data.draw(st.integers(1, 20)) for _ in range(rank))
        maximum = tuple(data.draw(st.sampled_from([None, size, size + 30])) for size in shape)
        chunks = tuple(
            chunk if most is None else min(chunk, most)
            for chunk, most in zip(chunks, maximum, strict=True)
        )
        given_values: dict[str, Any] = {}
        if data.draw(st.booleans()) and self.is_number:
            given_values["fillvalue"] = np.asarray(42).astype(self.dtype)[()]
        if data.draw(st.booleans()):
            given_values["fill_time"] = data.draw(st.sampled_from(["alloc", "ifset", "never"]))
        options = data.draw(filters_of()) | given_values
        for file in self.files:
            file.create_dataset("x", shape, self.dtype, chunks=chunks, maxshape=maximum, **options)
        self.open()
        self.others: list[tuple[Any, Any]] = []

    def open(self) -> None:
        self.ours, self.native = (file["x"] for file in self.files)

    def both(self) -> tuple[Any, Any]:
        """The handles, or others of the same dataset."""
        if self.others and self.data.draw(st.booleans()):
            return self.others[-1]
        return self.ours, self.native

    def box(self) -> tuple[slice, ...]:
        parts = []
        for size in self.native.shape:
            start = self.data.draw(st.integers(0, max(size - 1, 0)))
            parts.append(slice(start, self.data.draw(st.integers(start, size))))
        if self.data.draw(st.integers(0, 4)) == 0:
            return tuple(slice(0, size) for size in self.native.shape)
        return tuple(parts)

    def write(self) -> None:
        box = self.box()
        shape = tuple(part.stop - part.start for part in box)
        dtype = self.dtype
        if self.is_number and self.data.draw(st.booleans()):
            dtype = self.data.draw(st.sampled_from(NUMBERS))
        array = values(self.data.draw(st.integers(0, 99)), shape, dtype)
        for one in self.both():
            one[box] = array

    def write_within(self) -> None:
        """From the middle of a larger array, so that rows in memory have gaps."""
        box = self.box()
        shape = tuple(part.stop - part.start for part in box)
        if 0 in shape or self.dtype.subdtype is not None:
            return
        around = tuple(size + 3 for size in shape)
        array = values(self.data.draw(st.integers(0, 99)), around, self.dtype)
        inner = tuple(slice(2, 2 + size) for size in shape)
        for one in self.both():
            one.write_direct(np.ascontiguousarray(array), inner, box)

    def write_scattered(self) -> None:
        one = self.native
        if 0 in one.shape or self.dtype.subdtype is not None:
            return
        step = self.data.draw(st.integers(2, 4))
        where = tuple(slice(0, size, step) for size in one.shape)
        array = values(self.data.draw(st.integers(0, 99)), one[where].shape, self.dtype)
        for one in self.both():
            one[where] = array

    def broadcast(self) -> None:
        if self.is_number:
            box = self.box()
            for one in self.both():
                one[box] = 3

    def read(self) -> None:
        box = self.box()
        ours, native = (one[box] for one in self.both())
        assert ours.tobytes() == native.tobytes(), (box, ours, native)
        assert ours.dtype == native.dtype

    def read_as(self) -> None:
        if not self.is_number:
            return
        box = self.box()
        dtype = self.data.draw(st.sampled_from(NUMBERS))
        ours, native = (one.astype(dtype)[box] for one in self.both())
        assert ours.tobytes() == native.tobytes(), (box, dtype, ours, native)

    def read_within(self) -> None:
        box = self.box()
        shape = tuple(part.stop - part.start for part in box)
        if 0 in shape or self.dtype.subdtype is not None:
            return
        inner = tuple(slice(1, 1 + size) for size in shape)
        arrays = []
        for one in self.both():
            arrays.append(np.zeros(tuple(size + 2 for size in shape), self.dtype))
            one.read_direct(arrays[-1], box, inner)
        assert arrays[0].tobytes() == arrays[1].tobytes()

    def read_scattered(self) -> None:
        step = self.data.draw(st.integers(2, 4))
        where = tuple(slice(0, size, step) for size in self.native.shape)
        ours, native = (one[where] for one in self.both())
        assert ours.tobytes() == native.tobytes()

    def resize(self) -> None:
        new = []
        for size, most in zip(self.native.shape, self.native.maxshape, strict=True):
            limit = most if most is not None else size + 25
            grown = self.data.draw(st.integers(0, limit))
            new.append(size if self.data.draw(st.booleans()) else grown)
        for one in self.both():
            one.resize(tuple(new))

    def append(self) -> None:
        shape = self.native.shape
        most = self.native.maxshape[0]
        if (most is not None and shape[0] >= most) or shape[0] > 200:
            return
        row = values(self.data.draw(st.integers(0, 99)), shape[1:], self.dtype)
        for one in self.both():
            one.resize(shape[0] + 1, axis=0)
            one[shape[0]] = row

    def another_handle(self) -> None:
        self.others.append(tuple(file["x"] for file in self.files))

    def drop_handle(self) -> None:
        if self.others:
            self.others.pop()

    def reopen_dataset(self) -> None:
        self.ours = self.native = None
        self.open()

    def flush(self) -> None:
        for file in self.files:
            file.flush()

    def attribute(self) -> None:
        for one in self.both():
            one.attrs["a"] = 5
            assert one.attrs["a"] == 5

    def copy(self) -> None:
        # H5Ocopy of 2.0 overruns a buffer where a cached chunk is larger stored than decoded.
        one = self.native
        if not one.compression_opts or np.prod(one.chunks) * one.dtype.itemsize < 400:
            return
        for file in self.files:
            if "y" in file:
                del file["y"]
            file.copy("x", "y")
        ours, native = (file["y"][...] for file in self.files)
        assert ours.tobytes() == native.tobytes()

    def check(self) -> None:
        ours, native = self.ours[...], self.native[...]
        assert ours.tobytes() == native.tobytes(), (ours, native)


STEPS = [
    name
    for name in vars(Pair)
    if not name.startswith("_") and name not in ("both", "box", "open", "check")
] + ["write", "read", "write", "read", "append", "write_within"]


def run_program(data: Any, folder: Path) -> None:
    paths = [str(folder / name) for name in ("ours.h5", "native.h5")]
    libver = data.draw(st.sampled_from([None, "latest"]))
    # Where HDF5's own cache is larger than the connector's it is left to HDF5.
    files = [h5py.File(paths[0], "w", libver=libver, rdcc_nbytes=2048), native_file(paths[1], "w")]
    pair = Pair(data, *files)
    for name in data.draw(st.lists(st.sampled_from(STEPS), min_size=5, max_size=40)):
        getattr(pair, name)()
    if data.draw(st.booleans()):
        pair.check()
    # Sometimes the file goes first, its dataset stays open.
    if data.draw(st.booleans()):
        pair.ours = pair.native = None
    pair.others.clear()
    for file in files:
        file.close()
    pair.ours = pair.native = None
    with native_file(paths[0], "r") as ours, native_file(paths[1], "r") as native:
        for name in native:
            a, b = ours[name][...], native[name][...]
            assert a.tobytes() == b.tobytes(), (name, a, b)
            assert ours[name].dtype == native[name].dtype
            dataset = ours[name].id
            # Some of the others leave out what gains nothing, where HDF5 has written.
            if native[name].compression != "gzip":
                continue
            for i in range(dataset.get_num_chunks()):
                assert dataset.get_chunk_info(i).filter_mask == 0
    # What native HDF5 wrote, read by the connector.
    with h5py.File(paths[1]) as ours, native_file(paths[1], "r") as native:
        assert ours["x"][...].tobytes() == native["x"][...].tobytes()


def main() -> None:
    count = int(sys.argv[1])

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=len(sys.argv) < 3,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(st.data())
    def programs(data: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run_program(data, Path(folder))

    programs()


if __name__ == "__main__":
    main()
