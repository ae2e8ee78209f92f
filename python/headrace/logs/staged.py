"""Logs on a node's own storage (option `path` of the layer `log`), as placed_log.hpp puts them."""

from __future__ import annotations

import os
import socket
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
    if path.is_symlink() and (target := path.readlink()).parent.name.startswith("logs@"):
        target.with_suffix(".file").unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
