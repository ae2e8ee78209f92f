"""Raw POSIX: one file, pwrite and pread."""

import os
import platform
from pathlib import Path

import numpy as np

from headrace.bench.peers.workload import Block, Shape


class Store:
    """The array as it lies in memory, one step after another."""

    hdf5 = ""

    def __init__(self, path: Path, shape: Shape, variant: str) -> None:
        """See workload.Store."""
        self._path, self._shape, self._variant = path, shape, variant
        self._file = -1

    @property
    def version(self) -> str:
        """Of the kernel."""
        return platform.release()

    def create(self) -> None:
        """See workload.Store."""
        self._file = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)

    def write(self, step: int, block: Block) -> None:
        """See workload.Store."""
        data = np.ascontiguousarray(block).data.cast("B")
        at = step * self._shape.step_bytes
        while data:  # a call takes at most 2 GiB
            count = os.pwrite(self._file, data, at)
            data, at = data[count:], at + count

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """See workload.Store."""
        os.close(self._file)

    def open(self) -> None:
        """See workload.Store."""
        self._file = os.open(self._path, os.O_RDONLY)

    def read(self, step: int, block: Block) -> None:
        """See workload.Store."""
        data = block.data.cast("B")
        at = step * self._shape.step_bytes
        while data:
            count = os.preadv(self._file, [data], at)
            if count == 0:
                raise ValueError(f"{self._path.name} ends at byte {at}")
            data, at = data[count:], at + count

    def close_read(self) -> None:
        """See workload.Store."""
        os.close(self._file)
