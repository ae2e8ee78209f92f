"""python -m headrace.trace.replay.stored_sizes: values that filters make as small as the program's.

A replay on other values stores chunks with filters in other sizes, and what follows them elsewhere.
Its requests tell which chunk each size is of, and the trace those that the program's had. Of each
chunk values are looked for here, with the libhdf5 of the program, that its filters make exactly so
many bytes of, in about the time that they took for the program's. They are kept in a file, from
which replays take what they write.

The argument is a JSON object: `trace`; `trial`, the trace of a native replay; `files`, names in the
trace and in the trial; `longer`, the seconds that the program was in HDF5 beyond those of the
trial; `library`; and `output`, the file to make. It prints a JSON object: the name in that file of
each dataset of the trace, by its id.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np

from headrace.trace.model.reader import read
from headrace.trace.replay.hdf5.chunked import Chunked, fitting
from headrace.trace.replay.hdf5.filters import Filters
from headrace.trace.replay.hdf5.library import Library
from headrace.trace.replay.plan import plan_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.trace.model.reader import Trace
    from headrace.trace.replay.plan import Plan

_RAW, _WRITE = 3, 1  # H5FD_MEM_DRAW, and the kind of a request
_LARGEST: Final = 1 << 30  # bytes of a dataset


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
        def take(chunk: h5py.h5d.StoreInfo) -> None:
            if chunk.byte_offset in by_address:
                found[f"/{name}", chunk.chunk_offset] = by_address[chunk.byte_offset]

        if isinstance(object_, h5py.Dataset) and object_.chunks:
            object_.id.chunk_iter(take)

    with h5py.File(file, "r") as opened:
        opened.visititems(visit)
    return found


Name = tuple[str, str]  # of a dataset: the file's, and the path


def _names(made: Plan) -> dict[int, Name]:
    """Of all objects, by their ids, of which several may be of one object."""
    found = {}
    for id_, about in made.process.objects.items():
        file = made.process.files.get(about["file"], {})
        found[id_] = (str(file.get("name", "")), str(about["path"]))
    return found


def _datasets(
    made: Plan, wanted: Mapping[str, Mapping[Any, int]], library: Library, files: Mapping[str, str]
) -> dict[Name, Chunked]:
    """Those that values can be made for."""
    names = _names(made)
    of_datasets: dict[Name, dict[Any, int]] = defaultdict(dict)
    for file, chunks in wanted.items():
        for (path, place), size in chunks.items():
            of_datasets[file, path][place] = size
    found: dict[Name, Chunked] = {}
    for step in made.steps:
        name = names.get(step.key[0], ("", ""))
        if step.callback != "dataset_create" or "given" not in step.given or name in found:
            continue
        file, path = files.get(name[0], ""), name[1]
        if (file, path) not in of_datasets:
            continue
        with h5py.File(file, "r") as trial:
            dataset = trial[path]
            if _has_values(dataset):
                given = step.given["given"]
                lists = (library.decoded(given[each], made.process.encoded) for each in (4, 6))
                found[name] = Chunked(dataset, Filters(library, *lists), of_datasets[file, path])
    return found


def _has_values(dataset: h5py.Dataset) -> bool:
    """Whether any can be made for it."""
    filtered = dataset.id.get_create_plist().get_nfilters() > 0
    whole = int(dataset.size) * int(dataset.dtype.itemsize)
    return filtered and not dataset.dtype.hasobject and whole <= _LARGEST


def main() -> None:
    """Makes what the command line says."""
    what = json.loads(sys.argv[1])
    recorded = read(Path(what["trace"]))
    made, library = plan_of(recorded.seats[0]), Library(what["library"])
    wanted = sizes(recorded, read(Path(what["trial"])), what["files"])
    found = _datasets(made, wanted, library, what["files"])
    mix = fitting(list(found.values()), what["longer"])
    written = {name: str(number) for number, name in enumerate(found)}
    with h5py.File(what["output"], "w") as output:
        for name, dataset in found.items():
            dataset.write(output, written[name], mix.kind)
    names = {id_: written[name] for id_, name in _names(made).items() if name in written}
    sys.stdout.write(json.dumps(names) + "\n")


if __name__ == "__main__":
    main()
