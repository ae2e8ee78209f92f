"""A set: a stub with the file's name, a configuration and subfiles, as of HDF5's subfiling."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from headrace.errors import FileError
from headrace.logs.files import waiting_logs
from headrace.stripe.configuration import Layout, config_name, read_configuration
from headrace.stripe.state import SetState, read_state, state_path
from headrace.stripe.stub import Stub, read_stub

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONFIG: Final = re.compile(r"\.subfile_(\d+)\.config")


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


@dataclass(frozen=True)
class Description:
    """What is known of a set without a look at its subfiles."""

    stub: Stub
    config: Path
    layout: Layout
    made_at: str  # where the stub was when the set was made
    folder: str  # that the subfiles were made in
    names: tuple[str, ...]  # of the subfiles, in order
    state: SetState | None

    @property
    def other_nodes(self) -> list[str]:
        """Those that have subfiles of it in folders of their own; without this one."""
        nodes = () if self.state is None else self.state.nodes
        return sorted(set(nodes) - {socket.gethostname()})


def without_links(path: Path) -> Path:
    """What a link leads to: pieces lie beside that."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def describe(stub: Path, folder: Path | None = None) -> Description:
    """Of the set of a stub; `folder`: where its configuration is, if not beside the stub.

    Raises FileError that names what is missing or damaged.
    """
    stub = without_links(stub)
    begin = _stub(stub)
    config = _config_of(stub, folder or stub.parent, begin)
    told = read_configuration(config)
    state = read_state(config)
    return Description(begin, config, told.layout, told.stub, told.folder, told.names, state)


def find(stub: Path, folder: Path | None = None) -> StripedSet:
    """The set of a stub, as `describe`; raises FileError that names what does not fit, too.

    Files are looked for beside the configuration first, so a set may be moved as a whole.
    """
    stub = without_links(stub)
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
            f"{stub}: it is a file of its own, and another one than the pieces beside it; "
            "`headrace split` cuts it into pieces"
        )
    _require_own_subfiles(found, told)
    _check_sizes(found)
    return found


def require_one_file(path: Path) -> None:
    """Raises FileError where it is no HDF5 file, or has something that pieces would not have."""
    begin = _stub(path)
    if begin.kind == "empty":
        raise FileError(f"{path}: it is empty")
    if begin.kind == "text" or ((begin.names_subfiling or begin.was_text) and _has_pieces(path)):
        raise FileError(f"{path}: it is in pieces already; `headrace restripe` deals them out anew")
    if begin.superblock_at:
        raise FileError(f"{path}: it has a user block of {begin.superblock_at} bytes, which "
                        "programs write into past HDF5: it stays one file")  # fmt: skip
    if waiting_logs(path):
        raise FileError(f"{path}: a log waits beside it; `headrace log replay` puts it in first")


def _has_pieces(path: Path) -> bool:
    config = config_name(path.name, path.stat().st_ino)
    return config in (each.name for each in path.parent.iterdir())


def _require_here(stub: Path, others: Sequence[str]) -> None:
    if others:
        raise FileError(
            f"{stub}: subfiles of it lie on {', '.join(others[:20])}, in folders that only these "
            "nodes reach: open it over MPI with a rank on each of them, or make one file of it by "
            "`headrace fuse --output` on each of them"
        )


def _require_own_subfiles(found: StripedSet, told: Description) -> None:
    """Of a stub that was copied with links to subfiles, or without them."""
    (number,) = _CONFIG.findall(found.config.name)[-1:]
    original = Path(told.made_at)
    try:
        is_original = str(original.stat().st_ino) == number
    except OSError:  # it is gone, or cannot be seen from here
        return
    if str(found.stub.stat().st_ino) == number or not is_original:
        return
    folder = found.stub.parent.resolve()
    own = all(each.resolve().parent == folder for each in found.subfiles)
    if not own:
        raise FileError(
            f"{found.stub}: it is a copy of {original}, and its subfiles are that file's, which "
            f"lie elsewhere: `headrace fuse {original} --output` makes a copy"
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
        raise FileError(f"{path}: it is no HDF5 file, nor the stub of a set")
    return found


def _config_of(stub: Path, folder: Path, begin: Stub) -> Path:
    try:
        there = [each.name for each in folder.iterdir()]
    except OSError as error:
        raise FileError(f"{error.filename}: {error.strerror}") from None
    number = begin.number
    beside = [each for each in there if each.startswith(stub.name)]
    mine = config_name(stub.name, begin.inode if number is None else number)
    found = sorted(each for each in beside if _CONFIG.fullmatch(each[len(stub.name) :]))
    if mine in found and _is_of(folder / mine, begin):
        return folder / mine
    if number == begin.inode:  # the stub has been renamed
        end = config_name("", begin.inode)
        renamed = [
            each for each in there if each.endswith(end) and _may_be_of(folder / each, begin)
        ]
        if len(renamed) > 1:
            raise FileError(f"{stub}: several sets have its number: {', '.join(sorted(renamed))}")
        if renamed:
            return folder / renamed[0]
    if number is not None:
        _fail_without_config(stub, begin, mine, other_there=mine in found)
    if len(found) > 1:
        raise FileError(f"{stub}: several sets have that name, none with its inode {begin.inode}: "
                        f"{', '.join(found)}")  # fmt: skip
    if not found and begin.kind == "superblock":
        raise FileError(f"{stub}: it is one HDF5 file and has no pieces to fuse or deal out anew; "
                        "`headrace split` cuts it into pieces")  # fmt: skip
    if not found:
        raise FileError(f"{stub}: no configuration of a set lies beside it ({mine})")
    return folder / found[0]


def _is_of(config: Path, stub: Stub) -> bool:
    """By what both tell of themselves: HDF5's subfiling and older versions tell nothing."""
    return not stub.id or read_configuration(config).id == stub.id


def _may_be_of(config: Path, stub: Stub) -> bool:
    try:
        return _is_of(config, stub)
    except FileError:
        return False


def _fail_without_config(path: Path, stub: Stub, mine: str, *, other_there: bool) -> NoReturn:
    what = "is another file's" if other_there else "is not there"
    text = f"{path}: no configuration of its set lies beside it ({mine} {what})"
    if not stub.made:
        raise FileError(f"{text}: it may have been copied without its pieces")
    made = Path(stub.made)
    try:
        same = made.stat().st_ino == stub.inode
    except OSError:
        same = False
    if same:
        raise FileError(f"{text}: it is another name of {made}, beside which its subfiles lie")
    raise FileError(f"{text}: it may have been copied without its pieces, or moved; they were made "
                    f"beside {made}")  # fmt: skip


def _subfile(config: Path, told_folder: str, name: str) -> Path:
    for folder in (config.parent, Path(told_folder)):
        path = folder / name
        if path.is_file():
            return path
    raise FileError(f"{config.parent / name}: this subfile is missing (nor is it in {told_folder})")
