"""Passes for headrace-bench: the same command line and samples, without any I/O.

What it should do wrong stands in BENCH_FAKE: fail=CASE, crash=CASE, fallback, silent, unverified,
others (as many ranks as nobody asked for), or wait=CASE, for which it leaves a partial folder and
waits for a signal.
"""

import fnmatch
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

_CASES = {
    "ior": ["independent", "collective"],
    "metadata": ["datasets"],
}
_BYTES = 1 << 20


def value(name: str, default: str = "") -> str:
    """Of an option."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def measured(case: str, repeat: int) -> dict[str, Any]:
    """A good sample whose times tell the order of the processes apart from their repeat."""
    connector = os.environ.get("HDF5_VOL_CONNECTOR", "native").split()[0]
    if "fallback" in os.environ.get("BENCH_FAKE", ""):
        connector = "native"
    wall = (1.0 if connector == "native" else 0.5) + repeat / 100
    sample: dict[str, Any] = {
        "hdf5": "2.0.0",
        "library": value("--hdf5"),
        "connector": connector,
        "driver": "sec2",
        "started": "2026-01-31T12:00:00Z",
        "phases": {name: {"min": wall / 4, "max": wall / 4} for name in ("create", "write")},
        "rounds": 3 if value("--at-least") == "50ms" else 1,
        "write_wall": wall,
        "read_wall": wall / 2,
        "bytes": {"written": _BYTES, "read": _BYTES, "file": _BYTES + 2048},
        "dropped": "no",
        "verified": "unverified" not in os.environ.get("BENCH_FAKE", ""),
    }
    if "--no-read" in sys.argv:
        sample |= {"read_wall": 0.0, "verified": False}
        sample["bytes"] |= {"read": 0}
    if "--baseline" in sys.argv:
        sample["baseline"] = {"write": 0.25, "read": 0.125, "bytes": _BYTES}
    return {"parameters": {"case": case}} | sample


def count() -> None:
    """What the layer `model` does with its option `summary`."""
    stack = os.environ.get("HDF5_VOL_CONNECTOR", "") + os.environ.get("HDF5_DRIVER_CONFIG", "")
    found = re.search(r"summary=([^;}]+)", stack)
    counts = {
        "calls": 5, "requests": 4, "bytes": 2 * _BYTES, "sequential": 3, "seeks": 1,
        "metadata_requests": 1, "metadata_bytes": 96,
    }  # fmt: skip
    if found:
        with Path(found.group(1)).open("a") as file:
            file.write(json.dumps({"reads": counts, "writes": counts, "flushes": 1}) + "\n")


def wait(partial: Path, head: dict[str, Any]) -> None:
    """Until a signal comes; then says what it leaves behind."""
    partial.mkdir(parents=True)
    (partial / ".headrace-bench").touch()

    def end(_number: int, _frame: object) -> None:
        emit(head | {"error": "interrupted", "partial": str(partial)})
        sys.exit(130)

    signal.signal(signal.SIGTERM, end)
    (partial / "waiting").touch()
    time.sleep(60)


def emit(sample: dict[str, Any]) -> None:
    """Appends it."""
    with Path(value("--samples")).open("a") as file:
        file.write(json.dumps(sample) + "\n")


def main() -> int:
    """Does what the command line says."""
    ranks = int(os.environ.get("PMI_SIZE", "1"))
    kernel = next((word for word in sys.argv[1:] if word in _CASES), "")
    if not kernel:
        sys.stderr.write("no such kernel\n")
        return 2
    cases = fnmatch.filter(_CASES[kernel], value("--only", "*"))
    wrong, _, wanted = os.environ.get("BENCH_FAKE", "").partition("=")
    for case in cases:
        repeat = int(value("--first-repeat", "0"))
        ranks = 7 if wrong == "others" else ranks
        head = {"kernel": kernel, "case": case, "ranks": ranks, "repeat": repeat, "warmup": False}
        if "--list" in sys.argv:
            print(json.dumps(head))  # noqa: T201
            continue
        partial = Path(value("--dir"), f"{kernel}-{case}.partial")
        if case == wanted and wrong == "wait":
            wait(partial, head)
        if case == wanted and wrong == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == wanted and wrong == "fail":
            emit(head | {"error": f"{partial}/data.h5: no space", "partial": str(partial)})
            return 1
        progress = {"case": case, "repeat": repeat, "done": 0.5}
        sys.stderr.write(json.dumps({"progress": progress}) + "\n")
        if wrong != "silent":
            emit(head | measured(case, repeat))
        count()
    return 0


if __name__ == "__main__":
    sys.exit(main())
