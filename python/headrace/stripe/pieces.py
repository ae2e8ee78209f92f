"""Copies ranges between files: by sharing blocks where the file system can, else in the kernel."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PIECE: Final = 1 << 20
_BY_HAND: Final = (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def data_ranges(fd: int, size: int, at: int = 0) -> Iterator[tuple[int, int]]:
    """Of what is no hole from `at` to `size`: where each begins and ends."""
    while at < size:
        try:
            begin = os.lseek(fd, at, os.SEEK_DATA)
            end = os.lseek(fd, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole is left
                return
            begin, end = at, size  # the file system has no word for holes
        if begin >= size:
            return
        yield begin, min(end, size)
        at = end


def copy(source: int, begin: int, target: int, at: int, length: int) -> None:
    """Exactly so many bytes. Raises OSError; EIO where the source ends early.

    copy_file_range shares blocks on XFS and Btrfs by itself.
    """
    while length > 0:
        try:
            done = os.copy_file_range(source, target, length, begin, at)
        except OSError as error:
            if error.errno not in _BY_HAND:
                raise
            done = _copy_by_hand(source, begin, target, at, length)
        if done == 0:
            raise OSError(errno.EIO, "it ends early")
        begin, at, length = begin + done, at + done, length - done


def copy_identity(source: Path, target: Path) -> None:
    """Owner, mode, access lists and attributes, as far as who runs this may. Raises OSError."""
    status = source.stat()
    with suppress(PermissionError):
        os.chown(target, status.st_uid, status.st_gid)
    with suppress(PermissionError):  # file systems without modes
        shutil.copystat(source, target)
        os.utime(target)


def require_one_name(path: Path, remedy: str = "") -> None:
    """Before another file takes its place, or none; raises FileError where it has hard links."""
    names = path.stat().st_nlink if path.exists() else 1
    if names > 1:
        raise FileError(f"{path}: it has {names} names (hard links), and the others would be left "
                        f"without its data: remove them first{remedy}")  # fmt: skip


def remove_subfile(path: Path) -> None:
    """With what a link leads to if it has the name that links of sets have. Raises OSError."""
    if path.is_symlink() and path.resolve().name == path.name:
        path.resolve().unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _copy_by_hand(source: int, begin: int, target: int, at: int, length: int) -> int:
    data = os.pread(source, min(length, _PIECE), begin)
    return write(target, at, data)


def write(target: int, at: int, data: bytes) -> int:
    """All of it."""
    done = 0
    while done < len(data):
        done += os.pwrite(target, data[done:], at + done)
    return done
