"""Chunks of a dataset that are decoded before the program asks for them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Self

from headrace.cache.fill import begin

if TYPE_CHECKING:
    import h5py
    from numpy.typing import ArrayLike


class Prefetch:
    """Processes at work; what they have decoded is there for all processes of the node."""

    def __init__(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Those that were started; they go on when nobody keeps this."""
        self._processes = processes

    def wait(self) -> None:
        """Until they are done. What they could not read the program reads itself."""
        for process in self._processes:
            process.wait()

    def stop(self) -> None:
        """Ends them."""
        for process in self._processes:
            process.kill()
        self.wait()

    def __enter__(self) -> Self:
        """They are stopped at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stops them."""
        self.stop()


def prefetch(
    dataset: h5py.Dataset, rows: ArrayLike | None = None, *, processes: int = 1
) -> Prefetch:
    """Has processes of their own decode chunks into the layer `cache`, beside the program.

    They open the file anew, under the program's layers: without `cache` among these nothing is
    gained. They end with the program.

    Args:
        dataset: An open one of a file on a disk, with at least one dimension.
        rows: Numbers of rows, in the order in which they will be needed, or a mask; none: all.
        processes: How many decode.

    Returns:
        What waits for them, or stops them.

    Raises:
        IndexError: A row is beyond the dataset, or the mask has another length.
    """
    import numpy as np  # noqa: PLC0415, the package works without

    from headrace.operations.take import numbers_of  # noqa: PLC0415, as above

    file, name = dataset.file.filename, dataset.name
    if rows is None:
        return Prefetch(begin(file, [name], processes, os.environ))
    wanted = numbers_of(np.asarray(rows), dataset.shape[0]).astype(np.int64)
    # It has no name, and is there as long as a process has it.
    with tempfile.TemporaryFile() as order:
        order.write(wanted.tobytes())
        order.flush()
        return Prefetch(begin(file, ["-", name], processes, os.environ, rows=order))
