"""What `tree` does, with h5pyd: run by the Python of the environment that has it.

python hsds.py write|read DOMAIN COUNT
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import h5pyd  # type: ignore[import-not-found]  # of an environment of its own
import numpy as np

_ELEMENTS = 8


def write(domain: str, count: int) -> float:
    """h5pyd writes behind the program: the flush is part of it."""
    data = np.arange(count * _ELEMENTS, dtype=np.float64).reshape(count, _ELEMENTS)
    begin = time.perf_counter()
    with h5pyd.File(domain, "w") as file:
        for i in range(count):
            group = file.create_group(f"{i:05}")
            group.attrs["number"] = i
            dataset = group.create_dataset("x", data=data[i])
            dataset.attrs["number"] = i
        file.flush()
    return time.perf_counter() - begin


def read(domain: str, count: int) -> float:
    some: list[Any] = []
    begin = time.perf_counter()
    with h5pyd.File(domain, "r") as file:
        for i in range(count):
            group = file[f"{i:05}"]
            dataset = group["x"]
            some.append((group.attrs["number"], dataset[...], dataset.attrs["number"]))
    taken = time.perf_counter() - begin
    for i, (number, data, other) in enumerate(some):
        wanted = np.arange(i * _ELEMENTS, (i + 1) * _ELEMENTS)
        if number != i or other != i or (data != wanted).any():
            raise ValueError(f"group {i} is wrong")
    return taken


if __name__ == "__main__":
    side, given, groups = sys.argv[1:]
    print(json.dumps({"seconds": {"write": write, "read": read}[side](given, int(groups))}))
