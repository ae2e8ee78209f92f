"""Makes one file of a set whose subfiles lie on several nodes, in folders of each node's own.

Each node copies what it has to a hidden file beside the output, and leaves a mark for each of its
subfiles there. Who finds the marks of all gives the file its name.
"""

from __future__ import annotations

import os
import socket
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import FileError
from headrace.stripe.check import require_checksum
from headrace.stripe.fuse import compare_one, fuse_one
from headrace.stripe.locks import shared
from headrace.stripe.pieces import require_one_name
from headrace.stripe.sets import Description, StripedSet
from headrace.stripe.state import SetState, state_path

if TYPE_CHECKING:
    from collections.abc import Callable


def fuse_here(
    stub: Path, told: Description, output: Path, done: Callable[[int], None], *, verify: bool
) -> int:
    """Copies this node's subfiles; tells how many of others are missing still.

    `output` is there complete or not at all, and may be the last node's work alone. Whoever is
    interrupted begins anew; a set that was written to meanwhile is another one. Raises FileError.
    """
    state = told.state
    if state is None or not state.closed:
        raise FileError(f"{stub}: it was not closed by who wrote it last, or is open still: nobody "
                        "can tell how long the subfiles of other nodes should be")  # fmt: skip
    here = [k for k in range(told.layout.count) if _node_of(state, k) == socket.gethostname()]
    if not here:
        raise FileError(f"{stub}: no subfile of it lies on this node, {socket.gethostname()}")
    require_one_name(output)
    subfiles = tuple(told.config.parent / name for name in told.names)
    sizes = tuple(told.layout.piece_size(k, state.size) for k in range(told.layout.count))
    found = StripedSet(stub, told.config, told.layout, subfiles, sizes, state)
    with shared(found):
        partial = output.with_name(f".{output.name}.{_version(found):08x}.partial")
        try:
            _copy(found, here, partial, done, verify=verify)
            return _finish(found, partial, output)
        except OSError as error:
            raise FileError(f"{error.filename or partial}: {error.strerror}") from None


def _node_of(state: SetState, number: int) -> str:
    return state.nodes[number % len(state.nodes)]


def _version(found: StripedSet) -> int:
    """Another one whenever the set has been written to."""
    state = state_path(found.config)
    is_ = state.stat()
    return zlib.crc32(f"{is_.st_ino} {is_.st_mtime_ns}".encode() + state.read_bytes())


def _copy(
    found: StripedSet, here: list[int], partial: Path, done: Callable[[int], None], *, verify: bool
) -> None:
    target = os.open(
        partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, found.stub.stat().st_mode & 0o777
    )
    try:
        os.ftruncate(target, found.size)
        for number in here:
            path = found.subfiles[number]
            if path.stat().st_size != found.sizes[number]:
                raise FileError(f"{path}: this subfile has {path.stat().st_size} bytes, and had "
                                f"{found.sizes[number]} when {found.stub} was closed")  # fmt: skip
            require_checksum(found, number)
            fuse_one(found, number, target, done)
            if verify:
                compare_one(found, number, target)
        os.fsync(target)
    finally:
        os.close(target)
    for number in here:
        _mark(partial, number).touch()


def _mark(partial: Path, number: int) -> Path:
    return partial.with_name(f"{partial.name}.{number}")


def _finish(found: StripedSet, partial: Path, output: Path) -> int:
    marks = [_mark(partial, number) for number in range(found.layout.count)]
    missing = sum(not each.exists() for each in marks)
    if missing and not partial.exists():  # another node has done it
        return 0
    if missing == 0:
        try:
            partial.replace(output)
        except FileNotFoundError:  # another node has done it at the same moment
            return 0
        for each in marks:
            each.unlink(missing_ok=True)
    return missing
