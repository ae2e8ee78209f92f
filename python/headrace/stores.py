"""What `headrace-object` tells of stores of the layer `object`, and does to them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import FileError
from headrace.plugins import library_dir

if TYPE_CHECKING:
    from pathlib import Path


_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_STUB = _SIGNATURE + b"\ncontainer="  # docs/formats/container.md
_SAID = re.compile(re.escape(_STUB) + rb"([^\n]*)\nstore=([^\n]*)\n")

_MOST = 16384  # bytes of a stub


@dataclass(frozen=True, slots=True)
class Stub:
    """The file under a container's name: the container, and the folder of its store."""

    container: str
    store: str


@dataclass(frozen=True, slots=True)
class Told:
    """What it has told.

    Attributes:
        lines: An object for each line.
        is_clean: False where something is damaged, or was left as it is.
    """

    lines: list[dict[str, Any]]
    is_clean: bool


def ask(command: str, *words: str | Path, options: tuple[str, ...] = ()) -> Told:
    """Runs `headrace-object`.

    Raises:
        FileError: What was asked for cannot be done.
    """
    program = library_dir().parent / "bin/headrace-object"
    try:
        done = subprocess.run(
            [program, command, *options, "--", *words],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise FileError(f"{program}: {error.strerror}") from None
    if done.returncode not in (0, 1):
        raise FileError(done.stderr.strip() or f"{program}: status {done.returncode}")
    return Told([json.loads(line) for line in done.stdout.splitlines()], done.returncode == 0)


def is_stub(path: Path) -> bool:
    """Whether a file is the stub of a container; FileError where it cannot be read."""
    return read_stub(path) is not None


def read_stub(path: Path) -> Stub | None:
    """What the stub of a container says; None for other files, FileError for unreadable ones."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise FileError(f"{path} is no regular file")  # a pipe would be waited for
        with path.open("rb") as file:
            text = file.read(_MOST)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    if not text.startswith(_STUB):
        return None
    if (said := _SAID.match(text)) is None:
        return Stub("", "")
    store = re.sub(rb"\\(.)", lambda found: b"\n" if found[1] == b"n" else found[1], said[2])
    return Stub(os.fsdecode(said[1]), os.fsdecode(store))
