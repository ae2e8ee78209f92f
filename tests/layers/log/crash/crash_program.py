"""A program of steps that a crash may end, and what its datasets may hold then.

    python crash_program.py STEPS LIBVER

makes x.h5. Each write has its number as the value of all its elements, so that what is found tells
where it is from. What the program is about to do, or has done, it notes in the record of `record.c`
if there is one, and on standard output.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

SHAPE = (40, 60)
# HDF5 writes no metadata of the first two once they are made.
LAYOUTS = ("contiguous", "chunked", "late", "compressed")
Step = list[Any]
Array = np.ndarray[Any, Any]


def small(turns: int = 6, layouts: tuple[str, ...] = LAYOUTS) -> list[Step]:
    """Flushes, reads that have the log put in order, and a dataset that is made on the way."""
    steps: list[Step] = [["create", f"d{i}", layout] for i, layout in enumerate(layouts)]
    steps.append(["flush"])
    for turn in range(turns):
        steps += [_write(f"d{i}", 3 * turn + i) for i in (*range(len(layouts)), 0)]
        if turn == turns // 2:
            steps += [
                ["create", "new", "chunked"],
                _write("new", 7),
                ["read", "d0"],
                _write("d1", 8),
            ]
        steps.append(["flush"])
    return steps


def large(seed: int, length: int = 400) -> list[Step]:
    chance = random.Random(seed)  # noqa: S311
    steps: list[Step] = [["create", f"d{i}", LAYOUTS[i % len(LAYOUTS)]] for i in range(5)] + [
        ["flush"]
    ]
    for _ in range(length):
        what = chance.random()
        if what < 0.08:
            steps.append(["flush"])
        elif what < 0.1:
            steps.append(["read", f"d{chance.randrange(5)}"])
        else:
            steps.append(_write(f"d{chance.randrange(5)}", chance.randrange(100)))
    return steps


def _write(name: str, shift: int) -> Step:
    return ["write", name, shift % 4, 2 + shift % 3, shift % 7, 3 + shift % 5]


def _part(step: Step) -> tuple[slice, slice]:
    _, _, row, rows, column, columns = step
    return slice(row, None, rows), slice(column, None, columns)


@dataclass
class Progress:
    """How far a program has come for sure."""

    flushed: int = -1  # the step of the last flush that has returned
    begun: int = -1  # the last step that it has begun

    def note(self, text: str) -> None:
        what, number = text.split("-")
        if what == "flushed":
            self.flushed = int(number)
        else:
            self.begun = int(number)


@dataclass
class Expected:
    """What a program may leave."""

    steps: list[Step]
    arrays: list[dict[str, Array]] = field(default_factory=list)  # after each step

    def __post_init__(self) -> None:
        now: dict[str, Array] = {}
        for number, step in enumerate(self.steps):
            if step[0] == "create":
                now = now | {step[1]: np.zeros(SHAPE, "i4")}
            elif step[0] == "write":
                now = now | {step[1]: now[step[1]].copy()}
                now[step[1]][_part(step)] = number
            self.arrays.append(now)

    def fault(self, found: dict[str, Array], told: Progress) -> str:
        """What is wrong with what was found; empty when it is one of the states allowed."""
        for name, flushed in self.arrays[told.flushed].items():
            if name not in found:
                return f"{name} is missing"
            right = found[name] == flushed
            for number in range(told.flushed + 1, told.begun + 1):
                step = self.steps[number]
                if step[:2] == ["write", name]:
                    right[_part(step)] |= found[name][_part(step)] == number
            if not right.all():
                at = tuple(np.argwhere(~right)[0])
                return f"{name}{at} is {found[name][at]}, not {flushed[at]}"
        return ""

    def is_of_a_flush(self, found: dict[str, Array], told: Progress) -> bool:
        """Whether all is as it was at the last flush, or at the one that was under way."""
        ends = [told.flushed]
        ends += [told.begun] if self.steps[told.begun][0] == "flush" else []
        return any(
            all((found[name] == array).all() for name, array in self.arrays[end].items())
            for end in ends
        )


def main(steps: list[Step], libver: str) -> None:
    note = getattr(ctypes.CDLL(None), "record_note", None)

    def tell(text: str) -> None:
        if note is not None:
            note(text.encode())
        print(text, flush=True)

    datasets: dict[str, h5py.Dataset] = {}
    with h5py.File("x.h5", "w", libver=libver) as file:
        for number, step in enumerate(steps):
            tell(f"begun-{number}")
            if step[0] == "create":
                plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                if step[2] in ("chunked", "compressed"):
                    plist.set_chunk((16, 16))
                if step[2] == "compressed":
                    plist.set_deflate(1)
                if step[2] in ("contiguous", "chunked"):
                    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                space = h5py.h5s.create_simple(SHAPE)
                made = h5py.h5d.create(
                    file.id, step[1].encode(), h5py.h5t.NATIVE_INT32, space, plist
                )
                datasets[step[1]] = h5py.Dataset(made)
            elif step[0] == "write":
                part = _part(step)
                datasets[step[1]][part] = np.full(np.empty(SHAPE)[part].shape, number, "i4")
            elif step[0] == "read":
                datasets[step[1]][...]
            else:
                file.flush()
                tell(f"flushed-{number}")
    tell(f"flushed-{len(steps) - 1}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])
