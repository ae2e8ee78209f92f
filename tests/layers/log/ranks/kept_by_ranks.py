"""Runs programs over MPI whose logs outlive them, and looks at what they leave."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from harness import ranks
from harness.layer import Layer

LATER = "headrace_log canonicalise=later;mpi_logs=rank;under_vol=0;under_info={}"
NONE = "headrace_log under_vol=0;under_info={}"
FILES = ("random-0.h5", "random-1.h5", "random-2.h5")
KINDS = ("contiguous", "chunked", "deflated", "doubles")

start = partial(ranks.start, connector=LATER, KEEPS_LOGS="1", HEADRACE_LOG_LEVEL="info")
succeed = partial(ranks.succeed, connector=LATER, KEEPS_LOGS="1", HEADRACE_LOG_LEVEL="info")


def check(*names: str) -> None:
    """What the ranks' models say must be in the files."""
    for name in names:
        with h5py.File(name) as file:
            for dataset in KINDS:
                expected = np.fromfile(f"{name}.{dataset}.expected", np.int32)
                found = file[dataset][()]
                assert np.array_equal(found, expected.reshape(found.shape)), (name, dataset)
                assert np.array_equal(found[5::3, 7:9], file[dataset][5::3, 7:9]), (name, dataset)
            print(name, "_headrace_log" in file.attrs)


def put_in_order(*names: str) -> None:
    for name in names:
        h5py.File(name, "r+").close()


def logs_of(layer: Layer, name: str) -> list[Path]:
    return sorted(layer.folder.glob(f"{name}.headrace/*.log"))


def copy_expected(layer: Layer, name: str, copy: str) -> None:
    for kind in KINDS:
        path = layer.folder / f"{name}.{kind}.expected"
        shutil.copy(path, layer.folder / f"{copy}.{kind}.expected")


def copy_with_logs(layer: Layer, name: str, copy: str) -> None:
    shutil.copy(layer.folder / name, layer.folder / copy)
    shutil.copytree(layer.folder / f"{name}.headrace", layer.folder / f"{copy}.headrace")
    copy_expected(layer, name, copy)


def require(layer: Layer, names: tuple[str, ...], marked: bool) -> None:
    """Through the layer, or plainly where nothing waits any more."""
    program = partial(check, *names)
    expected = "\n".join(f"{name} {marked}" for name in names)
    if marked:
        assert layer.python(program).out.decode().strip() == expected
    else:
        assert layer.plain(program) == expected


def require_in_order(layer: Layer, *names: str) -> None:
    require(layer, names, marked=False)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"
