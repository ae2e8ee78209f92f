"""Logs on a node's own storage (option `path` of the layer `log`), as placed_log.hpp puts them."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import FileError
from headrace.plugins import library_dir


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


def nodes_with_logs(file: Path) -> set[str]:
    """The nodes whose storage has logs of a file, as links beside it say: this one, or others."""
    found = set()
    for link in file.with_name(file.name + ".headrace").glob("*.log"):
        if link.is_symlink() and (folder := link.readlink().parent).name.startswith("logs@"):
            found.add(folder.name.removeprefix("logs@"))
    return found


def move_beside(staged: Staged) -> None:
    """Moves a log beside its file, where other nodes find it, within HEADRACE_LOG_BANDWIDTH.

    Waits for a process that does so.

    Raises:
        FileError: It stays where it was.
    """
    link = staged.file.with_name(staged.file.name + ".headrace") / staged.log.name
    program = library_dir().parent / "bin/headrace-replay"
    done = subprocess.run([program, "--move", link], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FileError(f"{staged.log}: {done.stderr.strip() or f'status {done.returncode}'}")


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
