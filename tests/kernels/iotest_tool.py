"""What a file of iotest must hold, told from the case's parameters alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
from kernels.bench_tool import Bench, double_at, key_of

KEY = key_of("iotest")
SMALL = ("--steps", 2, "--arrays", 3, "--rows", 4, "--columns", 6)

# In the order of the original's loops.
BASIC = [
    f"{rank}d-{slowest}-{layout}-{mode}"
    for rank in (2, 3, 4)
    for slowest in ("step", "array")
    for layout in ("contiguous", "chunked")
    for mode in ("independent", "collective")
]
ONE_RANK = [case for case in BASIC if case.endswith("-independent")]


def cases(bench: Bench, *arguments: object) -> list[str]:
    """The cases that --list tells."""
    done = bench.start("iotest", "--list", *arguments)
    assert done.status == 0, done.text
    return [json.loads(line)["case"] for line in done.out.splitlines()]


def whole(parameters: dict[str, Any]) -> tuple[int, int]:
    """Rows and columns of an array over all ranks."""
    rows, columns = parameters["rows"], parameters["columns"]
    if parameters["scaling"] == "strong":
        return rows, columns
    return rows * parameters["process-rows"], columns * parameters["process-columns"]


def names(parameters: dict[str, Any]) -> set[str]:
    """The datasets that the case must have."""
    steps = [f"step={i}" for i in range(parameters["steps"])]
    arrays = [f"array={i}" for i in range(parameters["arrays"])]
    by_step = parameters["slowest-dimension"] == "step"
    if parameters["dataset-rank"] == 4:
        return {"dataset"}
    if parameters["dataset-rank"] == 3:
        return set(steps if by_step else arrays)
    return {f"{s}/{a}" if by_step else f"{a}/{s}" for s in steps for a in arrays}


def array_of(file: h5py.File, parameters: dict[str, Any], step: int, array: int) -> Any:
    """One array of one step, by the description of the layout."""
    by_step = parameters["slowest-dimension"] == "step"
    if parameters["dataset-rank"] == 4:
        return file["dataset"][(step, array) if by_step else (array, step)]
    if parameters["dataset-rank"] == 3:
        return file[f"step={step}"][array] if by_step else file[f"array={array}"][step]
    first, second = f"step={step}", f"array={array}"
    return file[f"{first}/{second}" if by_step else f"{second}/{first}"][()]


def check_file(path: Path, parameters: dict[str, Any]) -> None:
    """Names, types, chunks, fill, and each element of a small file."""
    rows, columns = whole(parameters)
    tile = (rows // parameters["process-rows"], columns // parameters["process-columns"])
    with h5py.File(path) as file:
        found: dict[str, h5py.Dataset] = {}
        file.visititems(
            lambda name, item: found.update({name: item} if isinstance(item, h5py.Dataset) else {})
        )
        assert found.keys() == names(parameters)
        for dataset in found.values():
            assert dataset.dtype.str == "<f8"
            chunk = dataset.chunks and dataset.chunks[-2:]
            assert chunk == (tile if parameters["layout"] == "chunked" else None)
            fill = dataset.id.get_create_plist().get_fill_time()
            assert fill == (
                h5py.h5d.FILL_TIME_ALLOC if parameters["fill-values"] else h5py.h5d.FILL_TIME_NEVER
            )
        if parameters["gzip"]:
            return  # smooth data; the kernel has verified them
        for step in range(parameters["steps"]):
            for array in range(parameters["arrays"]):
                data = array_of(file, parameters, step, array)
                assert data.shape == (rows, columns)
                first = (step * parameters["arrays"] + array) * rows * columns
                wanted = [double_at(KEY, first + i) for i in range(rows * columns)]
                assert data.reshape(-1).tolist() == wanted, (step, array)
