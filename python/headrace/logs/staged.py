"""Logs on a node's own storage (option `path` of the layer `log`), as placed_log.hpp puts them."""

from __future__ import annotations

import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Staged:
    """A log that waits on this node, and the file that it belongs to."""

    log: Path
    file: Path


def staged_logs(path: Path) -> list[Staged]:
    """Those in the folder that the option names, by their files' names."""
    folder = path / f"headrace-{os.geteuid()}" / f"logs@{socket.gethostname()}"
    found = [
        Staged(log, link.readlink())
        for log in folder.glob("*.log")
        if (link := log.with_suffix(".file")).is_symlink()
    ]
    return sorted(found, key=lambda one: (one.file, one.log))


def remove_log(path: Path) -> None:
    """Removes a log beside its file and, where that is a link to the node's storage, what it is to.

    Raises:
        OSError: Something of it remains.
    """
    if path.is_symlink() and _is_ours(target := path.readlink(), path.name):
        target.with_suffix(".file").unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _is_ours(target: Path, name: str) -> bool:
    """Whether it is a log in folders that only this user may enter: others may plant links."""
    folder = target.parent
    return (
        target.name == name
        and folder.name.startswith("logs@")
        and folder.parent.name.startswith("headrace-")
        and _is_private(folder)
        and _is_private(folder.parent)
    )


def _is_private(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    )
