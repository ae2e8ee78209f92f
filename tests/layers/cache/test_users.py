"""Users of one machine share nothing, and none of them can hand another one anything to read."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from layers.cache.node import Cache

from headrace.cache import store

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")

CHUNKS = 20
NOT_ITS_OWN = "is not a folder that only this user may enter"
# Numbers that nobody has, nor another run of these tests; of those that containers have, too.
FIRST, SECOND, STRANGER = (20_000 + 3 * (os.getpid() % 13_000) + i for i in range(3))


def folder_of(user: int) -> Path:
    return Path(f"/dev/shm/headrace-{user}")  # noqa: S108


@pytest.fixture
def cache(cache: Cache) -> Iterator[Cache]:
    """All users may enter its folder, and the shared ones are where they are without a setting."""
    cache.shared.chmod(0o777)
    for name in ("report", "log"):
        (cache.shared / name).touch()
        (cache.shared / name).chmod(0o666)
    made = dataclasses.replace(cache, folder=cache.shared)
    make(made.folder)
    yield made
    for user in (FIRST, SECOND):
        if folder_of(user).is_symlink():
            folder_of(user).unlink()
        shutil.rmtree(folder_of(user), ignore_errors=True)


def make(folder: Path) -> None:
    with h5py.File(folder / "x.h5", "w") as f:
        data = np.arange(CHUNKS * 1000)
        f.create_dataset("d", data=data, chunks=(1000,), compression="gzip")


def read(user: int) -> None:
    """As that user, and tells how many chunks the command finds then.

    It becomes the user once it has all modules: Python may lie where only root may look.
    """
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    with h5py.File("x.h5", "r") as f:
        for _ in range(2):
            for first in range(0, CHUNKS * 1000, 1000):
                seen = f["d"][first : first + 1000]
                assert (seen == np.arange(first, first + 1000)).all(), first
    try:
        found = store.read_store(store.in_memory())
    except OSError:
        found = None
    print(0 if found is None else sum(one.chunks for one in found.files.values()))


def read_as(cache: Cache, user: int, shared: Path | str = "", level: str = "debug") -> int:
    program = partial(read, user)
    options = "memory=4MiB;settle=0;"
    done = cache.python(program, options, HEADRACE_SHARED=str(shared), HEADRACE_LOG_LEVEL=level)
    return int(done.out)


def test_each_user_decodes_for_himself(cache: Cache) -> None:
    for count, user in enumerate((FIRST, SECOND), 1):
        assert read_as(cache, user) == CHUNKS
        assert cache.counted("chunks_cached") == count * CHUNKS
        assert cache.counted("cache_hits") >= count * CHUNKS
        folder = folder_of(user)
        assert {file.name for file in folder.iterdir()} == {"chunks-2", "writers-1"}
        for path, mode in ((folder, 0o700), *((file, 0o600) for file in folder.iterdir())):
            assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (user, mode), path


def test_what_another_user_has_is_not_used(cache: Cache) -> None:
    """Though a setting names it, and root may look into all folders."""

    def content() -> str:
        return hashlib.sha256((folder_of(FIRST) / "chunks-2").read_bytes()).hexdigest()

    assert read_as(cache, FIRST) == CHUNKS
    before, hits = content(), cache.counted("cache_hits")
    # The command tells of what it is asked for, to those who may look.
    for count, (user, told) in enumerate(((SECOND, 0), (0, CHUNKS)), 1):
        assert read_as(cache, user, folder_of(FIRST)) == told
        assert cache.log.count(f"{folder_of(FIRST)} {NOT_ITS_OWN}") == count
        assert content() == before
        assert (cache.counted("chunks_cached"), cache.counted("cache_hits")) == (CHUNKS, hits)
    assert read_as(cache, FIRST) == CHUNKS
    assert cache.counted("cache_hits") == hits + 2 * CHUNKS


def plant(folder: Path, owner: int, mode: int) -> None:
    folder.mkdir()
    os.chown(folder, owner, owner)
    folder.chmod(mode)


PLANTED: dict[str, Callable[[Path], None]] = {
    "another's": lambda folder: plant(folder, STRANGER, 0o700),
    "another's, for all": lambda folder: plant(folder, STRANGER, 0o777),
    "for all": lambda folder: plant(folder, SECOND, 0o777),
    "a link to one of the user": lambda folder: folder.symlink_to(folder_of(FIRST)),
    "a file": lambda folder: folder.touch(0o600),
}


def test_a_folder_that_was_planted_is_left_alone(cache: Cache) -> None:
    """Where the user's own would be."""
    folder = folder_of(SECOND)
    plant(folder_of(FIRST), SECOND, 0o700)
    for count, (what, make_it) in enumerate(PLANTED.items(), 1):
        make_it(folder)
        assert read_as(cache, SECOND) == 0, what
        assert cache.log.count(f"{folder} {NOT_ITS_OWN}") >= count, what
        assert folder.is_file() or not [*folder.iterdir()], what
        folder.unlink() if folder.is_symlink() or folder.is_file() else folder.rmdir()
    assert cache.counted("chunks_cached") == 0


def test_a_folder_that_was_planted_is_told_without_being_asked(cache: Cache) -> None:
    """Once, by the level of programs that set none: as long as it lies there nothing is kept."""
    plant(folder_of(SECOND), STRANGER, 0o700)
    assert read_as(cache, SECOND, level="warning") == 0
    assert cache.log.count(f"{folder_of(SECOND)} {NOT_ITS_OWN}") == 1
