"""Logs of the log layer that wait beside a file; docs/formats/log.md has what is in them."""

import json
import struct
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from headrace.errors import FileError
from headrace.plugins import library_dir

_HEADER: Final = struct.Struct("<4sIQQII")
_MAGIC: Final = b"HRLG"
_KINDS: Final = {1: "data", 2: "index", 3: "owner"}


@dataclass(frozen=True, slots=True)
class Segment:
    """One of a log's.

    Attributes:
        kind: What is in it: data, index or owner.
        offset: Of its header in the log, in bytes.
        size: Of what follows the header, in bytes.
    """

    kind: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        """Behind it in the log."""
        return self.offset + _HEADER.size + self.size


def waiting_logs(file: Path) -> list[Path]:
    """Those in the folder beside a file, be they its own or not."""
    folder = file.resolve()
    return sorted(folder.with_name(folder.name + ".headrace").glob("*.log"))


def segments(log: Path) -> list[Segment]:
    """Those up to the first that is not whole."""
    with log.open("rb") as stream:
        return list(_walk(stream, log.stat().st_size))


def uncovered(log: Path) -> int:
    """The bytes at the end that no flush of the program covers."""
    covered = [segment.end for segment in segments(log) if segment.kind != "data"]
    return log.stat().st_size - max(covered, default=0)


def contents(log: Path) -> dict[str, Any]:
    """What `headrace-log` tells of a log; FileError when it cannot be read or holds nonsense."""
    program = library_dir().parent / "bin/headrace-log"
    try:
        done = subprocess.run([program, log], capture_output=True, text=True, check=False)
    except OSError as error:
        raise FileError(f"{program}: {error.strerror}") from None
    if done.returncode != 0:
        raise FileError(f"{log}: {done.stderr.strip()}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _walk(stream: BinaryIO, size: int) -> Iterator[Segment]:
    offset = 0
    while size - offset >= _HEADER.size:
        stream.seek(offset)
        raw = stream.read(_HEADER.size)
        if len(raw) < _HEADER.size:
            return
        magic, kind, _, length, _, checksum = _HEADER.unpack(raw)
        if magic != _MAGIC or kind not in _KINDS or checksum != zlib.crc32(raw[:28]):
            return
        segment = Segment(_KINDS[kind], offset, length)
        if segment.end > size:
            return
        yield segment
        offset = segment.end
