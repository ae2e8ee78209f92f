"""The programs that time operations: the kernel on each HDF5 of the matrix, and h5py."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE_OPERATION = "file open+close"


@dataclass(frozen=True)
class Operation:
    """`calls` is how many of them make a batch of less than a millisecond."""

    name: str
    calls: int
    units: int = 1  # operations per call: the links of an iteration

    def request(self, calls: int | None = None, limit: int | None = None) -> str:
        """The operation as a program takes it: NAME=CALLS/LIMIT."""
        calls = self.calls if calls is None else calls
        return f"{self.name}={calls}/{calls if limit is None else limit}"


@dataclass(frozen=True)
class Program:
    """A command that takes FOLDER BATCHES NAME=CALLS/LIMIT... and prints JSON."""

    name: str
    command: tuple[str, ...]
    operations: tuple[Operation, ...]


KERNEL_OPERATIONS = (
    Operation("dataset open+close", 100),
    Operation("dataset create+close", 100),
    Operation("dataset write 8 B", 500),
    Operation("dataset read 8 B", 500),
    Operation("dataset write 8 B, unbuffered", 250),
    Operation("dataset read 8 B, unbuffered", 250),
    Operation("attribute read", 1000),
    Operation("attribute create+close", 200),
    Operation("group open+close", 400),
    Operation("iteration, per link", 5, units=1000),
    Operation(FILE_OPERATION, 20),
)
H5PY_OPERATIONS = (
    Operation("dataset open+read", 10),
    Operation("dataset create", 20),
    Operation("attribute read", 20),
)
HDF5_BUILDS = ("1.14.5-openmpi", "2.2.0-mpich")


def programs(build: Path) -> tuple[Program, ...]:
    """All of them; the kernels lie below the build folder."""
    kernels = build / "bench/micro"
    return (
        *(
            Program(f"HDF5 {hdf5}", (str(kernels / f"headrace_micro-{hdf5}"),), KERNEL_OPERATIONS)
            for hdf5 in HDF5_BUILDS
        ),
        Program("h5py wheel", (sys.executable, str(HERE / "h5py_operations.py")), H5PY_OPERATIONS),
    )
