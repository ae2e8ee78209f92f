"""A folder for what a program's processes tell, as `tempfile` makes one, which starts slowly."""

import contextlib
import os
import time
from pathlib import Path


def make() -> Path:
    """A new one that nobody else can look into; OSError where there is no room for it."""
    name = f"headrace-{os.getpid()}-{time.time_ns():x}"
    folder = Path(os.environ.get("TMPDIR") or "/tmp", name)  # noqa: S108, made for this process
    folder.mkdir(0o700)
    return folder


def remove(folder: Path) -> None:
    """With the files in it."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
