"""Logs of the log layer that wait beside a file; docs/formats/log.md has what is in them."""

import json
import subprocess
from pathlib import Path
from typing import Any

from headrace.errors import FileError
from headrace.plugins import library_dir


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
