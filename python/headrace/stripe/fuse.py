"""Makes one file of a set, and a set of one file. Whoever is interrupted leaves what was there."""

from __future__ import annotations

import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.stripe.check import require_checksums, require_whole
from headrace.stripe.configuration import (
    Configuration,
    Layout,
    config_name,
    read_configuration,
    subfile_names,
    write_configuration,
)
from headrace.stripe.locks import locked, unwritten
from headrace.stripe.pieces import (
    copy,
    copy_identity,
    data_ranges,
    remove_subfile,
    require_one_name,
)
from headrace.stripe.sets import StripedSet
from headrace.stripe.state import SetState, state_path, write_state
from headrace.stripe.stub import stub_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_WORKERS: Final = 8  # more do not help one disk
_SAMPLE: Final = 1 << 20


def make_whole(
    found: StripedSet, output: Path | None, done: Callable[[int], None], *, verify: bool
) -> None:
    """Makes one file of a set, in its place if there is no `output`. Raises FileError."""
    require_one_name(output or found.stub, ", or give another one by --output")
    with locked(found, reading=output is not None):
        require_whole(found)
        fuse(found, output or found.stub, done, verify=verify)
        if output is None:
            remove_pieces(found)


def restripe(
    found: StripedSet, layout: Layout, folders: Sequence[Path], done: Callable[[int], None]
) -> None:
    """Deals a set out anew; `done` is told of each byte twice. Raises FileError."""
    require_one_name(found.stub)
    whole = _partial(found.stub)
    with locked(found):
        require_whole(found)
        try:
            fuse(found, whole, done, verify=False)
            split(whole, found.stub, layout, folders, done)
        finally:
            whole.unlink(missing_ok=True)
        remove_pieces(found)


def move_set(found: StripedSet, stub: Path, done: Callable[[int], None]) -> None:
    """The same pieces under another name, as HDF5's subfiling finds them. Raises FileError."""
    require_one_name(found.stub)
    with locked(found):
        require_whole(found)
        copy_set(found, stub, done)
        remove_pieces(found)
        found.stub.unlink()


def remove_set(found: StripedSet) -> None:
    """The stub first: nobody finds half a set. Raises FileError."""
    require_one_name(found.stub)
    with locked(found):
        found.stub.unlink()
        remove_pieces(found)


def fuse(found: StripedSet, output: Path, done: Callable[[int], None], *, verify: bool) -> None:
    """Writes the whole file to `output`, which is there complete or not at all.

    `done` is told of bytes as they are written, by several threads. Raises FileError.
    """
    with _new_file(output, found.stub) as target:
        os.ftruncate(target, found.size)
        _deal(found.subfiles, lambda number: fuse_one(found, number, target, done))
        if verify:
            require_checksums(found)
            _deal(found.subfiles, lambda number: compare_one(found, number, target))


def split(
    whole: Path,
    stub: Path,
    layout: Layout,
    folders: Sequence[Path],
    done: Callable[[int], None],
) -> StripedSet:
    """Makes a set of a file; its stub comes last, and may take the file's own place.

    Subfiles lie in the folders in turn; beside the stub they are links then. Raises FileError, also
    where a program has the file open for writing.
    """
    require_one_name(stub, ", or give another one by --output")
    source = os.open(whole, os.O_RDONLY | os.O_CLOEXEC)

    def cut(number: int, target: int) -> None:
        size = os.fstat(source).st_size
        length = layout.piece_size(number, size)
        os.ftruncate(target, length)
        for here, there, count in _stripes(layout, number, 0, length):
            for begin, end in data_ranges(source, there + count, there):
                copy(source, begin, target, here + begin - there, end - begin)
            done(count)

    try:
        with unwritten(whole):
            return _make(stub, layout, whole, folders, cut)
    finally:
        os.close(source)


def copy_set(found: StripedSet, stub: Path, done: Callable[[int], None]) -> StripedSet:
    """The same pieces once more, for a stub of another name. Raises FileError."""

    def copy_piece(number: int, target: int) -> None:
        with found.subfiles[number].open("rb") as source:
            os.ftruncate(target, found.sizes[number])
            for begin, end in data_ranges(source.fileno(), found.sizes[number]):
                copy(source.fileno(), begin, target, begin, end - begin)
                done(end - begin)

    return _make(stub, found.layout, found.stub, (), copy_piece)


def _make(
    stub: Path,
    layout: Layout,
    identity: Path,
    folders: Sequence[Path],
    fill: Callable[[int, int], None],
) -> StripedSet:
    """`fill` writes the subfile of a number to a descriptor; whose they are `identity` tells."""
    partial = _partial(stub)
    made = [partial]
    try:
        partial.touch()
        inode = partial.stat().st_ino
        # As the system uses inodes again, a set that is left of an older file may have the number.
        id_ = secrets.token_hex(8)
        partial.write_bytes(stub_text(stub, inode, layout.count, layout.stripe, id_))
        copy_identity(identity, partial)
        names = subfile_names(stub.name, inode, layout.count)
        remove_left(stub.parent / config_name(stub.name, inode))
        subfiles = [_place(stub.parent, folders, number, each, made)
                    for number, each in enumerate(names)]  # fmt: skip
        _deal(subfiles, lambda number: _fill(subfiles[number], identity, number, fill))
        config = stub.parent / config_name(stub.name, inode)
        made.append(config)
        here = stub.absolute()
        told = Configuration(layout, str(here), str(here.parent), tuple(names), id_)
        write_configuration(config, told)
        sizes = tuple(each.stat().st_size for each in subfiles)
        state = SetState(closed=True, size=layout.whole_size(sizes))
        made.append(state_path(config))
        if sizes == tuple(layout.piece_size(number, state.size) for number in range(len(sizes))):
            write_state(config, state)
            copy_identity(identity, state_path(config))
        copy_identity(identity, config)
        partial.replace(stub)
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    return StripedSet(stub, config, layout, tuple(subfiles), sizes, state)


def remove_left(config: Path) -> None:
    """What an older set has left there, as far as its configuration tells. Raises OSError."""
    if not config.exists():
        return
    with suppress(FileError):
        for name in read_configuration(config).names:
            remove_subfile(config.parent / name)
    state_path(config).unlink(missing_ok=True)
    config.unlink()


def _fill(path: Path, identity: Path, number: int, fill: Callable[[int, int], None]) -> None:
    try:
        target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            copy_identity(identity, path)
            fill(number, target)
            os.fsync(target)
        finally:
            os.close(target)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None


def remove_pieces(found: StripedSet) -> None:
    """All of a set but its stub; the configuration first, so that no half of a set is found."""
    found.config.unlink(missing_ok=True)
    state_path(found.config).unlink(missing_ok=True)
    for path in found.subfiles:
        remove_subfile(path)


@contextmanager
def _new_file(output: Path, identity: Path) -> Iterator[int]:
    """A descriptor; the file has its name once it is complete and on the disk."""
    partial = _partial(output)
    handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        copy_identity(identity, partial)
        yield handle
        os.fsync(handle)
        partial.replace(output)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _partial(output: Path) -> Path:
    return output.with_name(f".{output.name}.{secrets.token_hex(4)}.partial")


def _deal(subfiles: Sequence[Path], work: Callable[[int], None]) -> None:
    """Of each subfile, some beside one another; the first error is told."""
    with ThreadPoolExecutor(min(_WORKERS, len(subfiles))) as workers:
        for each in [workers.submit(work, number) for number in range(len(subfiles))]:
            each.result()


def _stripes(layout: Layout, number: int, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """A range of a subfile by stripes: where each lies in it, where in the file, and its length."""
    while begin < end:
        row, inside = divmod(begin, layout.stripe)
        length = min(layout.stripe - inside, end - begin)
        if layout.count == 1:
            length = end - begin
        yield begin, (row * layout.count + number) * layout.stripe + inside, length
        begin += length


def fuse_one(found: StripedSet, number: int, target: int, done: Callable[[int], None]) -> None:
    """Copies a subfile to its places in the file of a descriptor. Raises FileError."""
    path = found.subfiles[number]
    try:
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for begin, end in data_ranges(source, found.sizes[number]):
                for here, there, length in _stripes(found.layout, number, begin, end):
                    copy(source, here, target, there, length)
                    done(length)
        finally:
            os.close(source)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None


def compare_one(found: StripedSet, number: int, target: int) -> None:
    """Raises FileError where the file of a descriptor has not what a subfile has of it."""
    with found.subfiles[number].open("rb") as source:
        for here, there, length in _stripes(found.layout, number, 0, found.sizes[number]):
            for at in range(0, length, _SAMPLE):
                size = min(_SAMPLE, length - at)
                if os.pread(source.fileno(), size, here + at) != os.pread(target, size, there + at):
                    raise FileError(f"{found.subfiles[number]}: byte {here + at} and on are not in "
                                    "the file that was made")  # fmt: skip


def _place(beside: Path, folders: Sequence[Path], number: int, name: str, made: list[Path]) -> Path:
    path = beside / name
    folder = folders[number % len(folders)] if folders else beside
    made.append(folder / name)
    if folder.resolve() != beside.resolve():
        made.append(path)
        path.symlink_to((folder / name).absolute())
    return path
