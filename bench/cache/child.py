"""The timed processes of one run: `python -m bench.cache.child KERNEL WAY FOLDER PARAMETERS`."""

from __future__ import annotations

import json
import multiprocessing as mp
import os
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from bench.cache.data import COPIED, FILE, SHAPE, SUMS, ZARR
from bench.common import child

import headrace

_LARGE = 1 << 30  # bytes of chunk cache
_WAIT = 600  # seconds
_COMPUTES = 0.3  # seconds before each checkpoint


def opened(way: str, folder: Path) -> Callable[[Any], Any]:
    """What gives a sample by its number."""
    if way == "copy":
        samples = np.memmap(folder / COPIED, np.uint8, "r").reshape(-1, *SHAPE)
        return lambda i: np.array(samples[i])
    if way == "zarr":
        import zarr  # noqa: PLC0415, of this way only

        array = zarr.open_array(str(folder / ZARR), mode="r")
        return lambda i: array[i]
    if way == "tensorstore":
        import tensorstore as ts  # noqa: PLC0415, of this way only

        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(folder / ZARR)}}
        context = ts.Context({"cache_pool": {"total_bytes_limit": _LARGE}})
        store = ts.open(spec, context=context).result()
        return lambda i: store[i].read().result()
    how = {"rdcc_nbytes": _LARGE} if way == "h5py-large" else {}
    dataset = h5py.File(folder / FILE, "r", **how)["x"]
    return lambda i: dataset[i]


def load(number: int, way: str, folder: str, given: dict[str, Any], together: Any) -> None:
    """One loader: its batches of each epoch, then all its samples once more to be verified."""
    sample = opened(way, Path(folder))
    sums = np.load(Path(folder) / SUMS)
    for epoch in range(given["epochs"]):
        order = np.random.default_rng(epoch).permutation(given["samples"])
        batches = order.reshape(-1, given["batch"])[number :: given["loaders"]]
        together.wait(_WAIT)
        for batch in batches:
            np.stack([sample(int(i)) for i in batch])
        together.wait(_WAIT)
    verify(sample, sums, batches.ravel())


def verify(sample: Callable[[int], Any], sums: Any, numbers: Any) -> None:
    """Raises where a sample is not what was written."""
    for i in numbers:
        if zlib.crc32(np.ascontiguousarray(sample(int(i))).tobytes()) != sums[i]:
            raise ValueError(f"sample {i} is wrong")


def loaders(way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """Seconds of each epoch, of all loaders together."""
    context = mp.get_context(given["method"])
    together = context.Barrier(given["loaders"] + 1)
    started = [
        context.Process(target=load, args=(i, way, folder, given, together))
        for i in range(given["loaders"])
    ]
    for each in started:
        each.start()
    taken = []
    for _ in range(given["epochs"]):
        together.wait(_WAIT)
        begin = time.perf_counter()
        together.wait(_WAIT)
        taken.append(time.perf_counter() - begin)
    for each in started:
        each.join()
    if any(each.exitcode for each in started):
        raise RuntimeError("a loader failed")
    return taken


def once(_way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """The whole file, chunk by chunk."""
    begin = time.perf_counter()
    with h5py.File(Path(folder) / FILE, "r") as file:
        for first in range(0, given["samples"], given["chunk"]):
            found = file["x"][first : first + given["chunk"]]
    taken = time.perf_counter() - begin
    verify(lambda i: found[i], np.load(Path(folder) / SUMS)[-len(found) :], range(len(found)))
    return [taken]


def lists(way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """A list of rows of each batch: by h5py, or by headrace.take."""
    taken = []
    sums = np.load(Path(folder) / SUMS)
    with h5py.File(Path(folder) / FILE, "r") as file:
        for epoch in range(given["epochs"]):
            order = np.random.default_rng(epoch).permutation(given["samples"])
            begin = time.perf_counter()
            for batch in order.reshape(-1, given["batch"]):
                rows = np.sort(batch)
                found = headrace.take(file["x"], rows) if way == "cache" else file["x"][rows]
            taken.append(time.perf_counter() - begin)
    verify(lambda i: found[i], sums[rows], range(len(rows)))
    return taken


def whole(_way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """All samples by one call, twice."""
    taken = []
    with h5py.File(Path(folder) / FILE, "r") as file:
        for _ in range(given["epochs"]):
            begin = time.perf_counter()
            found = file["x"][...]
            taken.append(time.perf_counter() - begin)
    verify(lambda i: found[i], np.load(Path(folder) / SUMS), range(len(found)))
    return taken


def disk(way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """All samples one by one in random order, more than memory has room for."""
    sample = opened(way, Path(folder))
    taken = []
    for epoch in range(given["epochs"]):
        order = np.random.default_rng(epoch).permutation(given["samples"])
        begin = time.perf_counter()
        for i in order:
            sample(int(i))
        taken.append(time.perf_counter() - begin)
    verify(sample, np.load(Path(folder) / SUMS), order)
    return taken


def sizes(way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """8 KiB at random places of the smallest and of the largest dataset, each round the other."""
    reads, rounds, length = 4000 if way == "cache" else 200, 5, 8192
    with h5py.File(Path(folder) / FILE, "r") as file:
        few, many = (file[str(power)] for power in (1, given["samples"]))
        wanted = [each[()] for each in (few, many)] if way == "cache" else []
        taken: list[list[float]] = [[], []]
        for number in range(2 * rounds):
            dataset = (few, many)[number % 2]
            places = np.random.default_rng(number).integers(0, len(dataset) // length, reads)
            firsts = (length * places).tolist()
            begin = time.perf_counter()
            for first in firsts:
                found = dataset[first : first + length]
            taken[number % 2].append(time.perf_counter() - begin)
            if wanted and (found != wanted[number % 2][first : first + length]).any():
                raise ValueError("what was read is wrong")
    return [min(each) for each in taken]


def steps(folder: str, given: dict[str, Any], rank: int) -> list[tuple[Path, Any]]:
    """Files of a rank's checkpoints, and what is in each."""
    data = np.arange(given["samples"] * np.prod(SHAPE), dtype=np.uint32).view(np.uint8)
    data = data[: given["samples"] * int(np.prod(SHAPE))] + np.uint8(rank)
    return [(Path(folder) / f"step-{n}-{rank}.h5", data + np.uint8(n))
            for n in range(given["epochs"])]  # fmt: skip


def write_steps(way: str, files: Sequence[tuple[Path, Any]], together: Any, told: Any) -> None:
    """One rank; tells the seconds that it waited for HDF5, and took. It computes by sleeping."""
    blocked = 0.0
    together.wait(_WAIT)
    begin = time.perf_counter()
    for path, data in files:
        time.sleep(_COMPUTES)
        start = time.perf_counter()
        if way == "copy":
            Path(os.environ["HEADRACE_LOG_PATH"], path.name).write_bytes(data)
        else:
            with h5py.File(path, "w") as file:
                for part, values in enumerate(np.split(data, 4)):
                    file.create_dataset(f"v{part}", data=values)
        blocked += time.perf_counter() - start
        together.wait(_WAIT)
    told.put((blocked, time.perf_counter() - begin))


def checkpoints(way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """Seconds that the rank waited for HDF5 which waited longest, and of all together."""
    context = mp.get_context("spawn")
    together, told = context.Barrier(given["ranks"]), context.Queue()
    first, *more = (steps(folder, given, rank) for rank in range(given["ranks"]))
    others = [context.Process(target=write_steps, args=(way, files, together, told))
              for files in more]  # fmt: skip
    for each in others:
        each.start()
    write_steps(way, first, together, told)
    taken = [told.get(timeout=_WAIT) for _ in range(given["ranks"])]
    for each in others:
        each.join()
    return [max(of_rank) for of_rank in zip(*taken, strict=True)]


def verify_checkpoints(_way: str, folder: str, given: dict[str, Any]) -> list[float]:
    """Raises where a checkpoint is not what was written."""
    for rank in range(given["ranks"]):
        for path, data in steps(folder, given, rank):
            with h5py.File(path, "r") as file:
                wanted = enumerate(np.split(data, 4))
                if not all((file[f"v{n}"][...] == values).all() for n, values in wanted):
                    raise ValueError(f"{path.name} is wrong")
    return []


_KERNELS = {each.__name__: each for each in (
    loaders, once, lists, whole, disk, sizes, checkpoints, verify_checkpoints,
)}  # fmt: skip


def main(kernel: str, way: str, folder: str, parameters: str) -> None:
    """Prints what was found as JSON."""
    child.tell("epochs", _KERNELS[kernel](way, folder, json.loads(parameters)))


if __name__ == "__main__":
    child.end(main)
