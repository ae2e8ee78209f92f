"""A set: a stub with the file's name, a configuration and subfiles, as HDF5's subfiling has them.

The names are those of H5FDsubfile_int.c (HDF5 1.14 to 2.2): beside the stub `out.h5`, whose inode
is part of them, lie `out.h5.subfile_INODE.config` and `out.h5.subfile_INODE_K_of_N` with K from 1
on. Stripe s of the file is stripe s // N of subfile s % N.
"""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.stripe.state import SetState, read_state, state_path
from headrace.stripe.stub import Stub, read_stub

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_SUBFILES: Final = 1_000_000
_MOST_TEXT: Final = 64 << 20  # bytes of a configuration: a name for each of a million subfiles
_CONFIG: Final = re.compile(r"\.subfile_(\d+)\.config")
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
class StripedSet:
    """A set that is there as a whole."""

    stub: Path
    config: Path
    layout: Layout
    subfiles: tuple[Path, ...]
    sizes: tuple[int, ...]
    state: SetState | None = None

    @property
    def size(self) -> int:
        """Of the file, in bytes."""
        return self.layout.whole_size(self.sizes)

    def read(self, at: int, length: int) -> bytes:
        """Bytes of the file; zeros for what its subfiles do not have, as HDF5 reads them."""
        parts = []
        while length > 0:
            stripe, inside = divmod(at, self.layout.stripe)
            row, number = divmod(stripe, self.layout.count)
            size = min(length, self.layout.stripe - inside)
            with self.subfiles[number].open("rb") as file:
                data = os.pread(file.fileno(), size, row * self.layout.stripe + inside)
            parts.append(data.ljust(size, b"\0"))
            at, length = at + size, length - size
        return b"".join(parts)


def config_name(stub: str, inode: int) -> str:
    """Of a set's configuration."""
    return f"{stub}.subfile_{inode}.config"


def subfile_names(stub: str, inode: int, count: int) -> list[str]:
    """Of its subfiles, in order."""
    digits = len(str(count))
    return [f"{stub}.subfile_{inode}_{k:0{digits}}_of_{count}" for k in range(1, count + 1)]


@dataclass(frozen=True)
class Description:
    """What is known of a set without a look at its subfiles."""

    stub: Stub
    config: Path
    layout: Layout
    folder: str  # that the subfiles were made in
    names: tuple[str, ...]  # of the subfiles, in order
    state: SetState | None

    @property
    def other_nodes(self) -> list[str]:
        """Those that have subfiles of it in folders of their own; without this one."""
        nodes = () if self.state is None else self.state.nodes
        return sorted(set(nodes) - {socket.gethostname()})


def describe(stub: Path, folder: Path | None = None) -> Description:
    """Of the set of a stub; `folder`: where its configuration is, if not beside the stub.

    Raises FileError that names what is missing or damaged.
    """
    begin = _stub(stub)
    config = _config_of(stub, folder or stub.parent, begin.number)
    told = _read(config)
    layout = Layout(
        _number(config, told, "stripe_size", 1 << 62),
        _number(config, told, "subfile_count", MOST_SUBFILES),
    )
    names = tuple(_names(config, told["names"], layout.count))
    return Description(begin, config, layout, told["subfile_dir"], names, read_state(config))


def find(stub: Path, folder: Path | None = None) -> StripedSet:
    """The set of a stub, as `describe`; raises FileError that names what does not fit, too.

    Files are looked for beside the configuration first, so a set may be moved as a whole.
    """
    told = describe(stub, folder)
    _require_here(stub, told.other_nodes)
    begin = told.stub
    subfiles = tuple(_subfile(told.config, told.folder, name) for name in told.names)
    sizes = tuple(each.stat().st_size for each in subfiles)
    # HDF5's subfiling, which knows of no state, has written to another stub than that of text.
    state = told.state if begin.kind == "text" else None
    found = StripedSet(stub, told.config, told.layout, subfiles, sizes, state)
    ours = begin.kind == "text" or begin.names_subfiling or begin.was_text
    if not ours or found.read(begin.superblock_at, len(begin.superblock)) != begin.superblock:
        raise FileError(
            f"{stub}: it is a file of its own, and another one than the pieces beside it"
        )
    _check_sizes(found)
    return found


def _require_here(stub: Path, others: Sequence[str]) -> None:
    if others:
        raise FileError(
            f"{stub}: subfiles of it lie on {', '.join(others[:20])}, in folders that only these "
            "nodes reach: open it over MPI with a rank on each of them, or make one file of it by "
            "`headrace fuse --output` on each of them"
        )


def _check_sizes(found: StripedSet) -> None:
    """One that was copied in part, or is older, would read as zeros."""
    if found.state is None or not found.state.closed:
        return
    for number, (path, size) in enumerate(zip(found.subfiles, found.sizes, strict=True)):
        expected = found.layout.piece_size(number, found.state.size)
        if size != expected:
            raise FileError(
                f"{path}: this subfile has {size} bytes, and had {expected} when {found.stub} was "
                "closed: it is an older one, or was copied in part (without "
                f"{state_path(found.config)} it is read as it is)"
            )


def _stub(path: Path) -> Stub:
    try:
        found = read_stub(path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    if found.kind == "other":
        raise FileError(f"{path}: it is no stub of a set, nor HDF5's")
    return found


def _config_of(stub: Path, folder: Path, number: int | None) -> Path:
    try:
        inode = stub.stat().st_ino
        there = [each.name for each in folder.iterdir()]
    except OSError as error:
        raise FileError(f"{error.filename}: {error.strerror}") from None
    beside = [each for each in there if each.startswith(stub.name)]
    mine = config_name(stub.name, inode if number is None else number)
    found = sorted(each for each in beside if _CONFIG.fullmatch(each[len(stub.name) :]))
    if mine in found:
        return folder / mine
    if number == inode:  # the stub has been renamed
        renamed = [each for each in there if each.endswith(config_name("", inode))]
        if len(renamed) > 1:
            raise FileError(f"{stub}: several sets have its number: {', '.join(sorted(renamed))}")
        if renamed:
            return folder / renamed[0]
    if number is not None:
        raise FileError(f"{stub}: no configuration of its set lies beside it ({mine}): it may have "
                        "been copied without its pieces")  # fmt: skip
    if len(found) > 1:
        raise FileError(f"{stub}: several sets have that name, none with its inode {inode}: "
                        f"{', '.join(found)}")  # fmt: skip
    if not found:
        raise FileError(f"{stub}: no configuration of a set lies beside it ({mine})")
    return folder / found[0]


def _read(config: Path) -> dict[str, str]:
    """By key; `names` has the rest, a line each."""
    try:
        with config.open("rb") as opened:
            text = opened.read(_MOST_TEXT + 1)
    except OSError as error:
        raise FileError(f"{config}: {error.strerror}") from None
    if len(text) > _MOST_TEXT:
        raise FileError(f"{config}: too long for the configuration of a set")
    told: dict[str, str] = {}
    lines = os.fsdecode(text).split("\n")
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


def _subfile(config: Path, told_folder: str, name: str) -> Path:
    for folder in (config.parent, Path(told_folder)):
        path = folder / name
        if path.is_file():
            return path
    raise FileError(f"{config.parent / name}: this subfile is missing (nor is it in {told_folder})")
