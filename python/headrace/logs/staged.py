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


def gather(file: Path) -> set[str]:
    """Has what this node has of a file's logs beside it, if other nodes have logs of it, too.

    Waits for processes that move them. Returns these nodes' names, by the links that lead there.

    Raises:
        FileError: A log stays where it was.
    """
    path = file.resolve()
    logs = path.with_name(path.name + ".headrace").glob("*.log")
    leads_to = {log: target for log in logs if (target := _target(log)) is not None}
    others = {log: target for log, target in leads_to.items() if not target.exists()}
    if not others:
        return set()
    for log in leads_to.keys() - others.keys():
        _move_beside(log)
    still = [target for log in others if (target := _target(log)) is not None]
    return {target.parent.name.partition("@")[2] for target in still}


def _target(log: Path) -> Path | None:
    """What the link leads to that stands for a log; None where the log is there itself."""
    try:
        target = log.readlink()
    except OSError:  # it is no link, or not any more
        return None
    return target if target.parent.name.startswith("logs@") else None


def _move_beside(log: Path) -> None:
    program = library_dir().parent / "bin/headrace-replay"
    try:
        done = subprocess.run([program, "--move", log], capture_output=True, text=True, check=False)
    except OSError as error:
        raise FileError(f"{program}: {error.strerror}") from None
    if done.returncode != 0:
        raise FileError(f"{log}: {done.stderr.strip() or f'status {done.returncode}'}")


def remove_moved(staged: Staged) -> bool:
    """Removes a log that is beside its file by now, as a whole; False where it is not.

    Whoever moved it was killed before that. No other log has its name.
    """
    beside = staged.file.with_name(staged.file.name + ".headrace") / staged.log.name
    try:
        is_whole = beside.lstat().st_size >= staged.log.stat().st_size
    except OSError:
        return False
    if beside.is_symlink() or not beside.is_file() or not is_whole:
        return False
    staged.log.with_suffix(".file").unlink(missing_ok=True)
    staged.log.unlink(missing_ok=True)
    return True


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
