"""What all peers do: a 4-D array of doubles, written and read step by step."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Block = NDArray[np.float64]
gzip_level = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """Of the array, and so of the payload."""

    steps: int
    arrays: int
    rows: int
    columns: int

    @property
    def whole(self) -> tuple[int, int, int, int]:
        """All four dimensions."""
        return self.steps, self.arrays, self.rows, self.columns

    @property
    def step(self) -> tuple[int, int, int]:
        """One step."""
        return self.arrays, self.rows, self.columns

    @property
    def chunk(self) -> tuple[int, int, int, int]:
        """One array of one step."""
        return 1, 1, self.rows, self.columns

    @property
    def step_bytes(self) -> int:
        """Of the payload."""
        return self.arrays * self.rows * self.columns * 8

    def block(self, step: int) -> Block:
        """The data of a step: each element is its own position in the array."""
        count = self.arrays * self.rows * self.columns
        first = step * count
        return np.arange(first, first + count, dtype=np.float64).reshape(self.step)


class Store(Protocol):
    """A way to store the array. Between create() and close() it writes, after open() it reads."""

    def __init__(self, path: Path, shape: Shape, variant: str) -> None:
        """`path` does not exist; the store may make a file or a folder of it."""

    @property
    def version(self) -> str:
        """Of the library that does the work."""

    @property
    def hdf5(self) -> str:
        """Version of HDF5; empty where there is none."""

    def create(self) -> None:
        """Makes the array."""

    def write(self, step: int, block: Block) -> None:
        """Writes a step."""

    def flush(self) -> None:
        """Hands all to the operating system."""

    def close(self) -> None:
        """Ends writing."""

    def open(self) -> None:
        """Begins reading."""

    def read(self, step: int, block: Block) -> None:
        """Reads a step into `block`."""

    def close_read(self) -> None:
        """Ends reading."""


@dataclass(slots=True)
class Clock:
    """Seconds by phase; what lies between the phases is not counted."""

    phases: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Adds the time of a with-statement to a phase."""
        start = time.perf_counter()
        yield
        self.phases[phase] = self.phases.get(phase, 0.0) + time.perf_counter() - start

    def total(self, *phases: str) -> float:
        """Of the phases there were."""
        return sum(self.phases.get(phase, 0.0) for phase in phases)


def write_all(store: Store, shape: Shape, clock: Clock) -> None:
    """The write side. Making the data is not counted."""
    with clock("create"):
        store.create()
    for step in range(shape.steps):
        block = shape.block(step)
        with clock("write"):
            store.write(step, block)
    with clock("flush"):
        store.flush()
    with clock("close"):
        store.close()


def read_all(store: Store, shape: Shape, clock: Clock) -> None:
    """The read side; ValueError names the first element that is not what was written."""
    with clock("open"):
        store.open()
    block = np.empty(shape.step)
    for step in range(shape.steps):
        block.fill(np.nan)
        with clock("read"):
            store.read(step, block)
        expected = shape.block(step)
        if not np.array_equal(block, expected):
            place = tuple(int(i) for i in np.argwhere(block != expected)[0])
            raise ValueError(
                f"element {(step, *place)} was read as {block[place]}, "
                f"but {expected[place]} was written"
            )
    with clock("close_read"):
        store.close_read()
