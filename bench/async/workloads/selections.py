"""What is read or written by lists of samples, points, masks, steps and runs of a mesh."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from headrace.bench.peers.workload import Clock

from .. import data

_NAME = "values"
_SAMPLE = (224, 224, 3)
_LAYOUTS: dict[str, dict[str, Any]] = {
    "gzip": {"compression": "gzip", "compression_opts": 1},
    "chunked": {},
    "contiguous": {},
}


def values_of(given: dict[str, Any]) -> NDArray[Any]:
    """Samples of bytes, or numbers."""
    if given["pattern"].startswith("lists"):
        count = given["samples"] * int(np.prod(_SAMPLE))
        noise = np.random.default_rng(5).integers(0, 40, count, dtype="u1")
        return np.reshape(noise, (given["samples"], *_SAMPLE))
    return data.values(given["elements"])


def prepare(path: Path, given: dict[str, Any]) -> None:
    """The file that is read, or written to."""
    values = values_of(given)
    chunks = (1, *_SAMPLE) if values.ndim > 1 else (16384,)
    more = {} if given["layout"] == "contiguous" else {"chunks": chunks}
    with h5py.File(path, "w") as file:
        file.create_dataset(_NAME, data=values, **more, **_LAYOUTS[given["layout"]])


def _places(given: dict[str, Any]) -> Iterator[NDArray[Any]]:
    """The elements, or samples, of each call."""
    random = np.random.default_rng(9)
    pattern = given["pattern"]
    if pattern.startswith("lists"):
        batches = random.permutation(given["samples"]).reshape(-1, given["batch"])
        yield from (np.sort(batch) for batch in batches)
        return
    count = given["elements"]
    for _ in range(given["calls"]):
        if pattern == "mask":
            yield np.flatnonzero(random.random(count) < 0.01)
        elif pattern == "converted":
            yield np.flatnonzero(random.random(count) < 0.3)
        elif pattern == "steps":
            yield np.arange(random.integers(0, 2), count, 2)
        elif pattern == "runs":
            starts = np.sort(random.choice(count // 40, given["parts"], replace=False)) * 40
            yield np.concatenate([np.arange(s, s + n) for s, n in zip(
                starts, random.integers(4, 20, given["parts"]), strict=True)])  # fmt: skip
        else:
            points = random.choice(count, given["parts"], replace=False)
            yield np.sort(points) if pattern == "points-in-order" else points


def _space(given: dict[str, Any], places: NDArray[Any]) -> h5py.h5s.SpaceID:
    space = h5py.h5s.create_simple((given["elements"],))
    if given["pattern"] != "runs":
        space.select_elements(places[:, None].astype("u8"))
        return space
    space.select_none()
    for run in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1):
        space.select_hyperslab((int(run[0]),), (len(run),), op=h5py.h5s.SELECT_OR)
    return space


def run(path: Path, given: dict[str, Any], clock: Clock) -> None:
    """Lists, masks and steps by h5py, others by what it is built on."""
    if given["side"] == "write":
        _write_all(path, given, clock)
    else:
        _read_all(path, given, clock)


def _read_all(path: Path, given: dict[str, Any], clock: Clock) -> None:
    """`lists` when all has been read."""
    values = values_of(given)
    with clock("open"):
        file = h5py.File(path, "r")
        dataset = file[_NAME]
    if given["pattern"] == "lists":
        for places in _places(given):
            dataset[places]
    for places in _places(given):
        found = _read(dataset, given, places, clock)
        if not np.array_equal(found, values[places].astype(found.dtype)):
            raise ValueError("other values were read")
    with clock("close_read"):
        file.close()


def _read(
    dataset: h5py.Dataset, given: dict[str, Any], places: NDArray[Any], clock: Clock
) -> NDArray[Any]:
    if given["pattern"].startswith("lists"):
        with clock("read"):
            return np.asarray(dataset[places])
    if given["pattern"] == "steps":
        with clock("read"):
            return np.asarray(dataset[places[0] :: 2])
    if given["pattern"] in ("mask", "converted"):
        mask = np.zeros(given["elements"], bool)
        mask[places] = True
        source = dataset.astype("f4") if given["pattern"] == "converted" else dataset
        with clock("read"):
            return np.asarray(source[mask])
    space = _space(given, places)
    memory = h5py.h5s.create_simple((len(places),))
    found = np.empty(len(places))
    with clock("read"):
        dataset.id.read(memory, space, found)
    return found


def _new(values: NDArray[Any], places: NDArray[Any], call: int) -> NDArray[Any]:
    """What a call writes."""
    return np.asarray(values[places] + values.dtype.type(call + 1))


def _write_all(path: Path, given: dict[str, Any], clock: Clock) -> None:
    values = values_of(given)
    prepare(path, given)
    file = h5py.File(path, "r+")
    dataset = file[_NAME]
    for call, places in enumerate(_places(given)):
        _write(dataset, given, places, _new(values, places, call), clock)
    with clock("close"):
        file.close()


def _write(
    dataset: h5py.Dataset,
    given: dict[str, Any],
    places: NDArray[Any],
    new: NDArray[Any],
    clock: Clock,
) -> None:
    if given["pattern"] == "lists":
        with clock("write"):
            dataset[places] = new
    elif given["pattern"] == "steps":
        with clock("write"):
            dataset[places[0] :: 2] = new
    else:
        space = _space(given, places)
        memory = h5py.h5s.create_simple((len(places),))
        with clock("write"):
            dataset.id.write(memory, space, new)


def check(path: Path, given: dict[str, Any]) -> str:
    expected = values_of(given)
    if given["side"] == "write":
        before = expected.copy()
        for call, places in enumerate(_places(given)):
            expected[places] = _new(before, places, call)
    with h5py.File(path, "r") as file:
        return data.first_difference(np.asarray(file[_NAME][...]), expected)
