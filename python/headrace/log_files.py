"""Logs of the log layer that wait beside a file; docs/formats/log.md has what is in them."""

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from headrace.errors import FileError
from headrace.plugins import library_dir

_AT_ONCE: Final = 1 << 20  # bytes


def waiting_logs(file: Path) -> list[Path]:
    """Those in the folder beside a file, be they its own or not."""
    folder = file.resolve()
    return sorted(folder.with_name(folder.name + ".headrace").glob("*.log"))


def contents(log: Path) -> list[dict[str, Any]]:
    """What `headrace-log` tells of a log, or of all that are in a file of several ranks.

    Raises:
        FileError: It cannot be read or holds nonsense.
    """
    program = library_dir().parent / "bin/headrace-log"
    try:
        # Names of datasets may be any bytes.
        done = subprocess.run(
            [program, log], capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise FileError(f"{program}: {error.strerror}") from None
    if done.returncode != 0:
        raise FileError(f"{log}: {done.stderr.strip() or f'status {done.returncode}'}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def copy_log(log: Path, to: Path) -> None:
    """With its holes: files that several ranks share have some."""
    with log.open("rb") as source, to.open("xb") as target:
        end = source.seek(0, os.SEEK_END)
        at = 0
        while at < end:
            try:
                at = os.lseek(source.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                break
            hole = os.lseek(source.fileno(), at, os.SEEK_HOLE)
            target.seek(at)
            source.seek(at)
            while at < hole and (part := source.read(min(hole - at, _AT_ONCE))):
                at += target.write(part)
            at = max(at, hole)
        target.truncate(end)
