"""What the statements of a program use. It stands at the head of stand-alone scripts, too.

Nothing here depends on the rest of the package: the text of this file is the head of a script.
"""

# ruff: noqa: C901, PLR0911, PTH123, S301
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import pickle
import select
import signal
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  (registers its filters)
import numpy as np

VECTOR = h5py.vlen_dtype(np.dtype("<i4"))
TYPES: dict[str, np.dtype[Any]] = {
    "i4": np.dtype("<i4"),
    "f4": np.dtype("<f4"),
    "u1": np.dtype("u1"),
    "f8": np.dtype("<f8"),
    "i2be": np.dtype(">i2"),
    "f8be": np.dtype(">f8"),
    "u8": np.dtype("<u8"),
    "i8": np.dtype("<i8"),
    "f2": np.dtype("<f2"),
    "bool": np.dtype("?"),
    "c16": np.dtype("<c16"),
    "S7": np.dtype("S7"),
    "V5": np.dtype("V5"),
    "enum": h5py.enum_dtype({"red": 0, "green": 1, "blue": 2}, basetype="i2"),
    "pair": np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3")]),
    "array": np.dtype(("<i4", (3,))),
    "nested": np.dtype([("p", [("x", "<f4"), ("y", ">i8")]), ("q", "u1", (2,))]),
    "text": h5py.string_dtype(),
    "bytes": h5py.string_dtype("ascii"),
    "vector": VECTOR,
    "mixed": np.dtype([("n", "<i4"), ("s", h5py.string_dtype())]),
    "ref": h5py.ref_dtype,
    "region": h5py.regionref_dtype,
}


def numbers(step: int, count: int) -> np.ndarray[Any, Any]:
    """Depends on the place and on the step; step % 4 says how well it compresses."""
    place: np.ndarray[Any, Any]
    place = np.arange(count, dtype=np.uint64) + np.uint64(step * 7919)
    if step % 4 == 1:
        place *= np.uint64(0x9E3779B97F4A7C15)  # noise
        return place ^ (place >> np.uint64(29))
    if step % 4 == 2:
        return place // np.uint64(64)
    return place


def leaf(step: int, count: int, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    values = numbers(step, count)
    made: np.ndarray[Any, Any]
    string = h5py.check_string_dtype(kind)
    if (string is not None and string.length is None) or kind.kind == "O":
        made = np.empty(count, "O")
        for i, v in enumerate(int(v) % 1000 for v in values):
            made[i] = np.arange(v, v + v % 5, dtype="<i4") if string is None else f"s{v}" * (v % 9)
        return made
    if kind.kind == "S":
        made = np.array([b"%d" % (int(v) % 10 ** min(kind.itemsize, 6)) for v in values], kind)
        return made
    if kind.kind == "V":
        raw = numbers(step, count * kind.itemsize).astype("u1").tobytes()
        made = np.frombuffer(raw, kind)
        return made
    if kind.kind == "b":
        made = (values % np.uint64(3) == 1).astype(kind)
        return made
    if h5py.check_enum_dtype(kind) is not None:
        return (values % np.uint64(3)).astype(kind)
    if kind.kind in "fc":
        bound = np.uint64(2000 if kind.itemsize == 2 else 1 << 22)
        return ((values % bound).astype("f8") / 4).astype(kind)
    made = values.astype(f"u{kind.itemsize}").astype(kind)
    return made


def fill(array: np.ndarray[Any, Any], step: int) -> None:
    if array.dtype.names:
        for number, name in enumerate(array.dtype.names):
            fill(array[name], step + 4 * number)
    elif array.dtype.kind == "V" and array.dtype.subdtype is None and array.dtype.itemsize == 0:
        return
    else:
        array[...] = leaf(step, array.size, array.dtype).reshape(array.shape)


def data(step: int, shape: tuple[int, ...], kind: str) -> Any:
    """An array of the type; a base of two dimensions more where the type is an array."""
    array = np.zeros(shape, TYPES[kind])
    if TYPES[kind].kind == "O" and TYPES[kind].metadata and array.size == 0:
        return array
    fill(array, step)
    return array


def mask(step: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    count = int(np.prod(shape, dtype=int))
    chosen: np.ndarray[Any, Any] = numbers(4 * step + 1, count) % np.uint64(step % 3 + 2) == 0
    return chosen.reshape(shape)


# ---- what a statement shows

SHOWN: list[Any] = []


def plain(value: Any) -> Any:
    """The value as JSON: large ones by digest and their first bytes."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            body = str([plain(v) for v in value.ravel().tolist()])
            raw = body.encode()
        else:
            raw = np.ascontiguousarray(value).tobytes()
            body = raw.hex()
        text = body if len(body) < 200 else body[:120] + "..." + hashlib.sha1(raw).hexdigest()  # noqa: S324
        return [str(value.dtype), list(value.shape), text]
    if isinstance(value, h5py.RegionReference):
        return f"region {bool(value)}"
    if isinstance(value, h5py.Reference):
        return f"reference {bool(value)}"
    if isinstance(value, (h5py.Dataset, h5py.Group, h5py.Datatype)):
        return [type(value).__name__, value.name]
    if isinstance(value, h5py.h5s.SpaceID):
        return plain(value.encode())
    if isinstance(value, (np.generic, np.void)):
        return plain(np.asarray(value))
    if isinstance(value, bytes):
        return plain(np.frombuffer(value, "u1"))
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value if isinstance(value, (int, str, bool, type(None))) else repr(value)


def show(value: Any) -> None:
    SHOWN.append(["same", plain(value)])


def show_layout(value: Any) -> None:
    """What may differ where a layer compresses: compared for layers that change no byte."""
    SHOWN.append(["layout", plain(value)])


def target(file: h5py.File, value: Any) -> Any:
    """What references point to."""
    if isinstance(value, h5py.RegionReference):
        there = file[value]
        return [there.name, there[value]] if value else None
    if isinstance(value, h5py.Reference):
        return file[value].name if value else None
    return [target(file, v) for v in np.asarray(value).ravel().tolist()]


# ---- chunks as they are stored


def pack(array: np.ndarray[Any, Any], filters: str, without: int = 0) -> bytes:
    """A chunk as the pipeline stores it: `s` shuffle, `z` deflate; `without` is its mask."""
    raw = np.ascontiguousarray(array).tobytes()
    for number, name in enumerate(filters):
        if without >> number & 1:
            continue
        if name == "s":
            width = array.dtype.itemsize
            raw = np.frombuffer(raw, "u1").reshape(-1, width).T.tobytes()
        elif name == "z":
            raw = zlib.compress(raw, 5)
        else:
            raw += fletcher32(raw)
    return raw


def fletcher32(raw: bytes) -> bytes:
    """HDF5's."""
    low = high = 0
    for word in np.frombuffer(raw + b"\0" * (len(raw) % 2), ">u2").tolist():
        low = (low + word) % 65535
        high = (high + low) % 65535
    return ((high << 16) | low).to_bytes(4, "little")


def show_chunk(dset: h5py.Dataset, where: tuple[int, ...], filters: str) -> None:
    """The stored bytes; deflated ones as what they stand for, as another coder may shorten them."""
    try:
        without, raw = dset.id.read_direct_chunk(where)
    except MemoryError:  # h5py took the size of a chunk that is not there from memory
        raise OSError("no such chunk") from None
    show(without)
    for number, name in reversed(list(enumerate(filters))):
        if without >> number & 1:
            continue
        if name == "f":
            raw = raw[:-4]
        elif name == "z":
            raw = zlib.decompress(raw)
    (show_layout if filters == "?" else show)(raw)


def show_chunk_info(info: Any) -> None:
    """A missing chunk has no mask and no size: h5py shows what was in memory."""
    show(info.byte_offset is not None)
    if info.byte_offset is not None:
        show([info.chunk_offset, info.filter_mask])
        show_layout(info)


# ---- low-level selections


def blocks(dset: h5py.Dataset, boxes: list[Any], how: int) -> Any:
    space = dset.id.get_space()
    space.select_none()
    for number, (start, count, stride, block) in enumerate(boxes):
        first = h5py.h5s.SELECT_SET
        space.select_hyperslab(start, count, stride, block, how if number else first)
    return space


def points(dset: h5py.Dataset, places: list[Any]) -> Any:
    space = dset.id.get_space()
    space.select_elements(places)
    return space


def write_selected(dset: h5py.Dataset, space: Any, step: int, kind: str, gap: int) -> None:
    """From a buffer that begins before the data and leaves room between its elements."""
    count = space.get_select_npoints()
    memory = h5py.h5s.create_simple(((gap + 1) * count + 3,))
    memory.select_none()
    if count:
        memory.select_hyperslab((2,), (count,), (gap + 1,))
    dset.id.write(memory, space, data(step, ((gap + 1) * count + 3,), kind))


def read_selected(dset: h5py.Dataset, space: Any, kind: str, gap: int) -> Any:
    count = space.get_select_npoints()
    memory = h5py.h5s.create_simple(((gap + 1) * count + 3,))
    memory.select_none()
    if count:
        memory.select_hyperslab((2,), (count,), (gap + 1,))
    out = np.zeros(((gap + 1) * count + 3,), TYPES[kind])
    dset.id.read(memory, space, out)
    return out


def hdf5() -> ctypes.CDLL:
    """The libhdf5 of h5py."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return ctypes.CDLL(next(m.split()[-1] for m in maps if "/libhdf5-" in m))


def together(name: str, dsets: list[h5py.Dataset], arrays: list[np.ndarray[Any, Any]]) -> None:
    """One call for several datasets, whole: h5py has none. The name is that of HDF5's function."""
    types = [h5py.h5t.py_create(array.dtype) for array in arrays]
    ids, kinds, every = (
        (ctypes.c_int64 * len(dsets))(*numbers)
        for numbers in ([d.id.id for d in dsets], [t.id for t in types], [0] * len(dsets))
    )
    buffers = (ctypes.c_void_p * len(dsets))(*(array.ctypes.data for array in arrays))
    count, default = ctypes.c_size_t(len(dsets)), ctypes.c_int64(0)
    if hdf5()[name](count, ids, kinds, every, every, default, buffers) < 0:
        raise OSError(name)


class Requests:
    """An event set. wait() tells what failed: natively at once, under a layer perhaps later."""

    def __init__(self) -> None:
        self.hdf5 = hdf5()
        self.hdf5.H5EScreate.restype = ctypes.c_int64
        self.set = ctypes.c_int64(self.hdf5.H5EScreate())
        self.failed = False
        self.held: list[np.ndarray[Any, Any]] = []  # the library's until wait() returns
        self.read_into: list[np.ndarray[Any, Any]] = []

    def write(self, dset: h5py.Dataset, space: Any, step: int, kind: str) -> None:
        array = np.ascontiguousarray(data(step, (space.get_select_npoints(),), kind))
        self.start("H5Dwrite_async", dset, space, array)

    def read(self, dset: h5py.Dataset, space: Any, kind: str) -> None:
        self.read_into.append(np.zeros((space.get_select_npoints(),), TYPES[kind]))
        self.start("H5Dread_async", dset, space, self.read_into[-1])

    def start(self, name: str, dset: h5py.Dataset, space: Any, array: np.ndarray[Any, Any]) -> None:
        self.held.append(array)
        memory, kind = h5py.h5s.create_simple(array.shape), h5py.h5t.py_create(array.dtype)
        ids = (ctypes.c_int64(one) for one in (dset.id.id, kind.id, memory.id, space.id, 0))
        buffer = ctypes.c_void_p(array.ctypes.data)
        self.failed |= self.hdf5[name](b"", b"", 0, *ids, buffer, self.set) < 0

    def wait(self) -> None:
        left, one = ctypes.c_size_t(1), ctypes.c_size_t()
        error, record = ctypes.c_bool(), ctypes.create_string_buffer(128)
        while left.value or error.value:
            forever = ctypes.c_uint64(2**64 - 1)
            status = self.hdf5.H5ESwait(self.set, forever, ctypes.byref(left), ctypes.byref(error))
            assert status >= 0
            if not error.value:
                continue
            self.failed = True  # the next is told when this one has been fetched
            count = ctypes.c_size_t(1)
            self.hdf5.H5ESget_err_info(self.set, count, record, ctypes.byref(one))
        reads, failed = self.read_into, self.failed
        self.held, self.read_into, self.failed = [], [], False
        if failed:
            raise OSError("a request failed")
        show(reads)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.wait()
        self.hdf5.H5ESclose(self.set)


# ---- other threads and processes


def in_thread(work: Callable[[], Any]) -> Any:
    got: list[Any] = []

    def target() -> None:
        try:
            got.append(work())
        except Exception as error:
            got.append(type(error).__name__)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    return got


def in_child(work: Callable[[], Any], limit: float = 20) -> Any:
    """What a forked child sees; it leaves without closing anything."""
    into, out = os.pipe(), 1
    child = os.fork()
    if child == 0:
        try:
            answer = plain(work())
        except Exception as error:
            answer = type(error).__name__
        os.write(into[out], pickle.dumps(answer)[:60000])
        os._exit(0)
    os.close(into[out])
    with open(into[0], "rb") as pipe:
        if not select.select([pipe], [], [], limit)[0]:
            os.kill(child, signal.SIGABRT)
            os.waitpid(child, 0)
            raise TimeoutError("the child hangs")
        raw = pipe.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(raw) if raw else f"the child died of {status}"
