"""python -m headrace.trace.replay.stored_sizes: values that filters make as small as the program's.

A replay on other values stores chunks with filters in other sizes, and what follows them elsewhere.
Its requests tell which chunk each size is of, and the trace those that the program's had. Of each
chunk values are looked for here, with the libhdf5 of the program, that its filters make exactly so
many bytes of. They are kept in a file, from which replays take what they write.

The argument is a JSON object: `trace`; `trial`, the trace of a native replay; `files`, names in the
trace and in the trial; `library`; and `output`, the file to make. It prints a JSON object: the name
in that file of each dataset of the trace, by its id.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np

from headrace.trace.reader import read
from headrace.trace.replay.library import Library
from headrace.trace.replay.plan import plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from headrace.trace.reader import Trace
    from headrace.trace.replay.plan import Plan

_RAW, _WRITE = 3, 1  # H5FD_MEM_DRAW, and the kind of a request
_ANEW: Final = 2  # H5F_ACC_TRUNC
_LARGEST: Final = 1 << 30  # bytes of a dataset
_TRIES: Final = 300
_JUMP: Final = 8  # bytes
_STEP: Final = 4099
_UNLIMITED: Final = 0xFFFFFFFFFFFFFFFF  # H5S_UNLIMITED
# Of eight bits six are random, so that no number is infinite; where that is too little, all are.
_POOLS: Final = [
    np.random.default_rng(22).integers(0, most, 1 << 24, np.uint8) for most in (64, 256)
]
_MANY: Final = 0.7
Place = tuple[int, ...]  # of a chunk: its first element


def sizes(recorded: Trace, trial: Trace, files: Mapping[str, str]) -> dict[str, dict[Any, int]]:
    """By file of the trial: what the program stored of each chunk last, by dataset and place.

    Empty where the trial has not made as many requests.
    """
    lengths, made = _stored(recorded), _stored(trial)
    found: dict[str, dict[Any, int]] = {}
    for name, file in files.items():
        before, after = lengths.get(name, []), made.get(file, [])
        if len(before) == len(after) and Path(file).is_file() and h5py.is_hdf5(file):
            by_address = {
                offset: length for (_, length), (offset, _) in zip(before, after, strict=True)
            }
            found[file] = _of_chunks(file, by_address)
    return found


def _stored(trace: Trace) -> dict[str, list[tuple[int, int]]]:
    """Offset and length of what was written of datasets, by the name of the file."""
    seat = trace.seats[0]
    table = seat.requests
    rows = np.flatnonzero((table["kind"] == _WRITE) & (table["type"] == _RAW))
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows[np.argsort(table["begin"][rows], kind="stable")].tolist():
        place = (int(table["offset"][row]), int(table["length"][row]))
        found.setdefault(seat.storages[int(table["file"][row])], []).append(place)
    return found


def _of_chunks(file: str, by_address: Mapping[int, int]) -> dict[Any, int]:
    found: dict[Any, int] = {}

    def visit(name: str, object_: h5py.HLObject) -> None:
        if isinstance(object_, h5py.Dataset) and object_.chunks and object_.id.get_num_chunks():
            for number in range(object_.id.get_num_chunks()):
                chunk = object_.id.get_chunk_info(number)
                if chunk.byte_offset in by_address:
                    found[f"/{name}", chunk.chunk_offset] = by_address[chunk.byte_offset]

    with h5py.File(file, "r") as opened:
        opened.visititems(visit)
    return found


class Filters:
    """What the filters of a dataset make of a chunk."""

    def __init__(self, library: Library, type_: int, dcpl: int) -> None:
        """In a file of its own, in memory."""
        self._library, self._type, self._dcpl = library, type_, dcpl
        fapl = library.call("H5Pcreate", library.variable("H5P_CLS_FILE_ACCESS_ID_g"))
        library.call("H5Pset_fapl_core", fapl, ctypes.c_size_t(1 << 20), ctypes.c_int(0))
        name = f"chunks {id(self)}".encode()  # HDF5 makes no file that is open
        self._file = library.call("H5Fcreate", name, ctypes.c_uint(_ANEW), 0, fapl)
        self._found: dict[tuple[Place, int], NDArray[np.uint8]] = {}

    def size(self, extent: Place, data: NDArray[np.uint8]) -> int:
        """Bytes that are stored of one chunk, of which so much is in the dataset."""
        call = self._library.call
        sides = ctypes.c_uint64 * len(extent)  # HDF5 makes no chunks larger than a limit of them
        most = sides(*(_UNLIMITED for _ in extent))
        space = call("H5Screate_simple", len(extent), sides(*extent), most)
        dataset = call("H5Dcreate2", self._file, b"x", self._type, space, 0, self._dcpl, 0)
        call("H5Dwrite", dataset, self._type, 0, 0, 0, data.ctypes.data_as(ctypes.c_void_p))
        call("H5Dflush", dataset)
        stored = call("H5Dget_storage_size", dataset)
        for function, handle in (("H5Dclose", dataset), ("H5Sclose", space)):
            call(function, handle)
        call("H5Ldelete", self._file, b"x", 0)
        return stored

    def values(self, extent: Place, item: int, wanted: int) -> NDArray[np.uint8]:
        """So many elements of `item` bytes, stored in `wanted` bytes or as near as was found."""
        if (extent, wanted) not in self._found:
            self._found[extent, wanted] = self._search(extent, item, wanted)
        return self._found[extent, wanted]

    def _search(self, extent: Place, item: int, wanted: int) -> NDArray[np.uint8]:
        """By bisection: what is stored grows with the random bytes, by one or two for each."""
        whole = int(np.prod(extent)) * item
        pool = _POOLS[1 if wanted > _MANY * whole else 0]
        kept, low, high = min(wanted, whole), 0, whole
        best, nearest = np.zeros(whole, np.uint8), whole
        first = 0  # of the random bytes
        for _ in range(_TRIES):
            data = np.zeros(whole, np.uint8)
            data[:kept] = np.resize(pool[first : first + kept], kept)
            stored = self.size(extent, data)
            if stored <= 0:  # HDF5 makes no such dataset here
                break
            if abs(stored - wanted) < nearest:
                best, nearest = data, abs(stored - wanted)
            if stored == wanted:
                break
            low, high = (kept, high) if stored < wanted else (low, kept)
            if high - low < _JUMP:  # other random bytes end elsewhere
                first += _STEP
                low, high = max(kept - _JUMP, 0), min(kept + _JUMP, whole)
            guess = kept + round((wanted - stored) * kept / stored)
            kept = guess if low < guess < high else (low + high) // 2
        return best


Name = tuple[str, str]  # of a dataset: the file's, and the path


def _names(made: Plan) -> dict[int, Name]:
    """Of all objects, by their ids, of which several may be of one object."""
    found = {}
    for id_, about in made.process.objects.items():
        file = made.process.files.get(about["file"], {})
        found[id_] = (str(file.get("name", "")), str(about["path"]))
    return found


def main() -> None:
    """Makes what the command line says."""
    what = json.loads(sys.argv[1])
    recorded = read(Path(what["trace"]))
    made, library = plan(recorded), Library(what["library"])
    wanted = sizes(recorded, read(Path(what["trial"])), what["files"])
    names = _names(made)
    written: dict[Name, str] = {}
    with h5py.File(what["output"], "w") as output:
        for step in made.steps:
            name = names.get(step.key[0], ("", ""))
            if step.callback != "dataset_create" or "given" not in step.given or name in written:
                continue
            file, path = what["files"].get(name[0], ""), name[1]
            mine = {place: size for (of, place), size in wanted.get(file, {}).items() if of == path}
            if not mine:
                continue
            with h5py.File(file, "r") as trial:
                dataset = trial[path]
                if _has_values(dataset):
                    given = step.given["given"]
                    lists = (library.decoded(given[each], made.process.encoded) for each in (4, 6))
                    written[name] = str(len(written))
                    _write(output, written[name], dataset, Filters(library, *lists), mine)
    sys.stdout.write(json.dumps({id_: written[name] for id_, name in names.items()
                                 if name in written}) + "\n")  # fmt: skip


def _has_values(dataset: h5py.Dataset) -> bool:
    """Whether any can be made for it."""
    filtered = dataset.id.get_create_plist().get_nfilters() > 0
    whole = int(dataset.size) * int(dataset.dtype.itemsize)
    return filtered and not dataset.dtype.hasobject and whole <= _LARGEST


def _write(
    output: h5py.File, name: str, like: h5py.Dataset, filters: Filters, wanted: Mapping[Place, int]
) -> None:
    """All values of a dataset."""
    type_ = like.id.get_type()
    data = np.zeros((*like.shape, type_.get_size()), np.uint8)
    for place, size in wanted.items():
        sides = zip(like.chunks, like.shape, place, strict=True)
        extent = tuple(min(chunk, whole - first) for chunk, whole, first in sides)
        if min(extent) > 0:
            part = tuple(slice(p, p + e) for p, e in zip(place, extent, strict=True))
            values = filters.values(extent, data.shape[-1], size)
            data[part] = values.reshape(*extent, data.shape[-1])
    made = h5py.h5d.create(output.id, name.encode(), type_, h5py.h5s.create_simple(like.shape))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=type_)


if __name__ == "__main__":
    main()
