"""Files that are either whole or not there, and lines that survive a crash."""

import contextlib
import errno
import json
import os
from pathlib import Path
from typing import Any

from headrace.errors import HeadraceError


class ResultsError(HeadraceError):
    """Results that cannot be read or written."""


def write_text(file: Path, text: str) -> None:
    """Writes FILE.partial and renames it; ResultsError names the file and the cause."""
    partial = file.with_name(file.name + ".partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise ResultsError(f"{file} cannot be written: {error.strerror}") from None


def append_line(file: Path, record: dict[str, Any]) -> None:
    """Appends a line of JSON and waits until it is on disk."""
    text = json.dumps(record, ensure_ascii=False) + "\n"
    try:
        with file.open("ab", buffering=0) as stream:
            start = stream.tell()
            data = text.encode("utf-8", "backslashreplace")
            whole = stream.write(data) == len(data)
            if not whole:  # a full disk takes what still fits
                stream.truncate(start)
            os.fsync(stream.fileno())
    except OSError as error:
        raise _unwritten(file, error.strerror) from None
    if not whole:
        raise _unwritten(file, os.strerror(errno.ENOSPC))


def _unwritten(file: Path, reason: str | None) -> ResultsError:
    return ResultsError(
        f"{file} cannot be written: {reason}; what it holds already is complete: make room and "
        f"continue with --resume {file.parent}"
    )


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of JSON in a file; a last one cut short by a crash is left out."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror}") from None
    records = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ResultsError(f"{file}, line {number}: not a record of JSON")
        records.append(record)
    return records


def drop_torn_line(file: Path) -> None:
    """Removes what a crash left of a line, so that the next one starts at its beginning."""
    try:
        data = file.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.truncate(file, whole)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ResultsError(f"{file} cannot be repaired: {error.strerror}") from None
