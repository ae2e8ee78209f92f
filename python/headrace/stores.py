"""What `headrace-object` tells of stores of the layer `object`, and does to them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import FileError
from headrace.plugins import library_dir

if TYPE_CHECKING:
    from pathlib import Path


_STUB = b"\x89HDF\r\n\x1a\n\ncontainer="  # docs/formats/container.md


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
    try:
        with path.open("rb") as file:
            return file.read(len(_STUB)) == _STUB
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
