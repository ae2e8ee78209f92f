"""One case of a peer: `python -m headrace.bench.peers.child CASE OPTIONS`; appends its sample."""

import argparse
import datetime
import importlib
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, cast

from headrace.bench import folders, peers
from headrace.bench.atomic import append_line
from headrace.bench.peers import cache, posix
from headrace.bench.peers.workload import Clock, Shape, Store, read_all, write_all
from headrace.errors import HeadraceError

_WRITE_SIDE = ("create", "write", "flush", "close", "sync")
_READ_SIDE = ("open", "read", "close_read")


class Ended(BaseException):
    """SIGTERM or SIGINT came."""


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line, which is that of headrace-bench as far as peers can do the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    for name in ("--steps", "--arrays", "--rows", "--columns"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--repeats", type=int, default=1, choices=[1])
    parser.add_argument("--sync", default="none", choices=["none", "close"])
    parser.add_argument("--drop-caches", action="store_true")
    parser.add_argument("--baseline", action="store_true")
    return parser.parse_args(words)


def main() -> int:
    """Measures the case; 1 when it fails, 130 when it is ended."""
    given = arguments()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    shape = Shape(given.steps, given.arrays, given.rows, given.columns)
    whole: Path = given.dir / f"{peers.peers_kernel}-{given.case}"
    partial = whole.with_name(whole.name + ".partial")
    sample: dict[str, Any] = {
        "kernel": peers.peers_kernel,
        "case": given.case,
        "parameters": dict(zip(("steps", "arrays", "rows", "columns"), shape.whole, strict=True)),
        "ranks": 1,
    }
    status = 0
    try:
        folders.remove(whole)
        folders.make(partial)
        sample |= measure(given, shape, partial)
        partial.rename(whole)
        folders.remove(whole)
    except Ended:
        sample |= {"error": "interrupted"}
        status = 130
    except Exception as error:  # whatever a library raises is the result
        reason = str(error)
        if not isinstance(error, HeadraceError):
            reason = f"{type(error).__name__}: {reason}"
        sample |= {"error": f"{partial.name}: {reason}"}
        sys.stderr.write(f"{given.case}: {reason}\n")
        status = 1
    if status != 0 and folders.is_ours(partial):
        sample["partial"] = str(partial)
    append_line(given.samples, sample)
    return status


def measure(given: argparse.Namespace, shape: Shape, folder: Path) -> dict[str, Any]:
    """Writes, reads and compares the array in a folder that holds nothing else."""
    peer, variant = peers.by_case(given.case)
    module = importlib.import_module(f"headrace.bench.peers.{peer.module}")
    store = cast("Store", module.Store(folder / "data", shape, variant))
    started = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    clock = Clock()
    write_all(store, shape, clock)
    if given.sync == "close":
        with clock("sync"):
            cache.sync(folder)
    dropped = cache.drop(folder) if given.drop_caches else "no"
    read_all(store, shape, clock)
    payload = shape.steps * shape.step_bytes
    result: dict[str, Any] = {
        "started": started,
        "phases": {name: {"min": t, "max": t} for name, t in clock.phases.items()},
        "write_wall": clock.total(*_WRITE_SIDE),
        "read_wall": clock.total(*_READ_SIDE),
        "bytes": {
            "written": payload,
            "read": payload,
            "file": sum(file.stat().st_size for file in cache.files(folder)),
        },
        "dropped": dropped,
        "verified": True,
        "version": store.version,
    }
    if store.hdf5:
        result["hdf5"] = store.hdf5
    if given.baseline and peer.module != "posix":
        result["baseline"] = baseline(given, shape, folder)
    return result


def baseline(given: argparse.Namespace, shape: Shape, folder: Path) -> dict[str, Any]:
    """The same bytes through pwrite and pread, in the same folder."""
    store = posix.Store(folder / "baseline", shape, "contiguous")
    clock = Clock()
    write_all(store, shape, clock)
    if given.sync == "close":
        with clock("sync"):
            cache.sync(folder)
    if given.drop_caches:
        cache.drop(folder)
    read_all(store, shape, clock)
    written, read = clock.total(*_WRITE_SIDE), clock.total(*_READ_SIDE)
    return {"write": written, "read": read, "bytes": shape.steps * shape.step_bytes}


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Ended


if __name__ == "__main__":
    sys.exit(main())
