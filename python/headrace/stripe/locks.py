"""Who may change a set: one at a time, and nobody while a program has it open."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headrace.stripe.sets import StripedSet


@contextmanager
def locked(found: StripedSet, *, reading: bool = False) -> Iterator[None]:
    """For the block; raises FileError where others are at work.

    Programs that have it open for reading are in the way of those who do more than `reading`: they
    open subfiles when they need them.
    The configuration has the lock of who makes a file of the set (tools/stripe), the stub the one
    of HDF5. A file system without locks has neither.
    """
    with ExitStack() as held:
        _lock(held, found.stub, found.config, fcntl.LOCK_EX, "another process makes one file of it")
        if reading:
            _lock(held, found.stub, found.stub, fcntl.LOCK_SH, "a program has it open for writing")
        else:
            _lock(held, found.stub, found.stub, fcntl.LOCK_EX, "a program has it open")
        yield


@contextmanager
def unwritten(whole: Path) -> Iterator[None]:
    """An ordinary file, for the block; raises FileError where a program has it open for writing."""
    with ExitStack() as held:
        _lock(held, whole, whole, fcntl.LOCK_SH, "a program has it open for writing")
        yield


@contextmanager
def shared(found: StripedSet) -> Iterator[None]:
    """For the block, with others who do the same; raises FileError where it may change."""
    with ExitStack() as held:
        _lock(held, found.stub, found.config, fcntl.LOCK_SH, "another process makes one file of it")
        _lock(held, found.stub, found.stub, fcntl.LOCK_SH, "a program has it open for writing")
        yield


def _lock(held: ExitStack, stub: Path, path: Path, kind: int, else_said: str) -> None:
    try:
        file = held.enter_context(path.open("rb"))
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(f"{stub}: {else_said}") from None
    except FileNotFoundError:
        raise FileError(f"{stub}: it is no set any more") from None
    except OSError:  # NFS without its lock service, say
        return
