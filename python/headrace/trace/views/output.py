"""What reports and exports share: the place that they write to, and the times of all processes."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from headrace.trace.model.reader import Trace

PRIVATE: Final = 0o600  # as the trace


def temporary_name(path: Path) -> Path:
    """A name beside `path`, on the same file system."""
    whole = path.absolute()
    return whole.parent / f".{whole.name}.{os.getpid()}.tmp"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to; the file takes the place of `path` when the block ends without an error.

    Raises FileError for the system's errors within the block, and leaves nothing behind then.
    """
    temporary = temporary_name(path)
    try:
        yield temporary
        temporary.chmod(PRIVATE)
        temporary.replace(path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def replacing_folder(path: Path, is_known: Callable[[str], bool]) -> Iterator[Path]:
    """A folder to write to; it takes the place of `path` when the block ends without an error.

    Raises FileError for the system's errors within the block, and where the folder holds a name
    that is not known: that one is no earlier export. Leaves nothing behind then.
    """
    temporary = temporary_name(path)
    old = temporary.with_suffix(".old")
    try:
        for each in path.iterdir() if path.exists() else ():
            if not is_known(each.name):
                raise FileError(f"{path}: holds {each.name}, so this folder is not replaced")
        temporary.mkdir(0o700)
        yield temporary
        if path.exists():
            path.replace(old)
        temporary.replace(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    finally:
        if old.exists() and not path.exists():
            with suppress(OSError):
                old.replace(path)
        shutil.rmtree(temporary, ignore_errors=True)


def private(path: str, flags: int) -> int:
    """An opener, for `open`: nobody but the user may read the file while it is written, either."""
    return os.open(path, flags, PRIVATE)


def begin_and_end(trace: Trace) -> tuple[int, int]:
    """Of all calls and requests, in nanoseconds since 1970; zeros where there is none."""
    begins, ends = [], []
    for process in trace.processes:
        for table in (process.calls, process.requests):
            if len(table["begin"]):
                begins.append(int(table["begin"].min()) + process.clock_offset)
                ends.append(int((table["begin"] + table["duration"]).max()) + process.clock_offset)
    return min(begins, default=0), max(ends, default=0)
