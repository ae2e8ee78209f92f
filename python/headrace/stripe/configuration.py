"""The configuration of a set: how the file is dealt out, and the names of its parts.

The names are those of H5FDsubfile_int.c (HDF5 1.14 to 2.2): beside the stub `out.h5`, whose inode
is part of them, lie `out.h5.subfile_INODE.config` and `out.h5.subfile_INODE_K_of_N` with K from 1
on. Stripe s of the file is stripe s // N of subfile s % N.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MOST_SUBFILES: Final = 1_000_000
_MOST_TEXT: Final = 64 << 20  # bytes of a configuration: a name for each of a million subfiles
# HDF5's subfiling looks for its own keys, and h5fuse for names after the last one.
_ID: Final = "headrace_id="
_KEYS: Final = ("stripe_size", "aggregator_count", "subfile_count", "hdf5_file", "subfile_dir")


@dataclass(frozen=True)
class Layout:
    """How a file is dealt out: `stripe` bytes at a time, to `count` subfiles in turn."""

    stripe: int
    count: int

    def whole_size(self, sizes: Sequence[int]) -> int:
        """Of the file, by the sizes of its subfiles in order."""
        return max((self._end(number, size) for number, size in enumerate(sizes)), default=0)

    def _end(self, number: int, size: int) -> int:
        if size == 0:
            return 0
        row, rest = divmod(size - 1, self.stripe)
        return (row * self.count + number) * self.stripe + rest + 1

    def piece_size(self, number: int, whole: int) -> int:
        """Of a subfile, by the file's: the inverse of `whole_size`."""
        rows, rest = divmod(whole, self.stripe * self.count)
        return rows * self.stripe + min(max(rest - number * self.stripe, 0), self.stripe)


@dataclass(frozen=True)
class Configuration:
    """What a configuration says.

    Attributes:
        layout: How the file is dealt out.
        stub: Where it was when the set was made.
        folder: That the subfiles were made in.
        names: Of the subfiles, in order.
        id: As in the stub's text; empty in HDF5's and old ones.
    """

    layout: Layout
    stub: str
    folder: str
    names: tuple[str, ...]
    id: str = ""


def read_configuration(path: Path) -> Configuration:
    """Raises FileError that names what is damaged."""
    told = _read(path)
    layout = Layout(
        _number(path, told, "stripe_size", 1 << 62),
        _number(path, told, "subfile_count", MOST_SUBFILES),
    )
    names = tuple(_names(path, told["names"], layout.count))
    return Configuration(layout, told["hdf5_file"], told["subfile_dir"], names, told["id"])


def write_configuration(config: Path, told: Configuration) -> None:
    """Raises OSError."""
    lines = [
        f"stripe_size={told.layout.stripe}",
        f"aggregator_count={told.layout.count}",
        f"subfile_count={told.layout.count}",
        f"hdf5_file={told.stub}",
        *([f"{_ID}{told.id}"] if told.id else []),
        f"subfile_dir={told.folder}",
        *told.names,
    ]
    config.write_bytes(os.fsencode("\n".join(lines) + "\n"))


def config_name(stub: str, inode: int) -> str:
    """Of a set's configuration."""
    return f"{stub}.subfile_{inode}.config"


def subfile_names(stub: str, inode: int, count: int) -> list[str]:
    """Of its subfiles, in order."""
    digits = len(str(count))
    return [f"{stub}.subfile_{inode}_{k:0{digits}}_of_{count}" for k in range(1, count + 1)]


def _read(config: Path) -> dict[str, str]:
    """By key; `names` has the rest, a line each."""
    try:
        with config.open("rb") as opened:
            text = opened.read(_MOST_TEXT + 1)
    except OSError as error:
        raise FileError(f"{config}: {error.strerror}") from None
    if len(text) > _MOST_TEXT:
        raise FileError(f"{config}: too long for the configuration of a set")
    told = {"id": ""}
    lines = os.fsdecode(text).split("\n")
    last = len(_KEYS) - 1
    if len(lines) > last and lines[last].startswith(_ID):
        told["id"] = lines.pop(last)[len(_ID) :]
    for number, key in enumerate(_KEYS):
        line = lines[number] if number < len(lines) else ""
        if not line.startswith(f"{key}="):
            raise FileError(f"{config}: line {number + 1} is not {key}=…")
        told[key] = line[len(key) + 1 :]
    told["names"] = "\n".join(lines[len(_KEYS) :])
    return told


def _number(config: Path, told: Mapping[str, str], key: str, most: int) -> int:
    text = told[key].strip()
    if not re.fullmatch(r"\d{1,19}", text) or not 1 <= int(text) <= most:
        raise FileError(f"{config}: {key}={text[:40]} is no number from 1 to {most}")
    return int(text)


def _names(config: Path, text: str, count: int) -> Iterable[str]:
    names = [each for each in text.split("\n") if each]
    if len(names) != count:
        raise FileError(f"{config}: it names {len(names)} subfiles of {count}")
    for name in names:
        if "/" in name or "\0" in name or name in (".", ".."):
            raise FileError(f"{config}: {name[:80]!r} is no name of a subfile")
    if len(set(names)) != len(names):
        raise FileError(f"{config}: it names a subfile twice")
    return names
