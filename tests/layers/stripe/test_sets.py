"""Sets of pieces: made, made whole, moved; what is missing or hostile is named."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from headrace.errors import FileError
from headrace.stripe import check
from headrace.stripe.configuration import Layout
from headrace.stripe.fuse import copy_set, fuse, remove_pieces, split
from headrace.stripe.sets import StripedSet, find
from headrace.stripe.state import state_path

HEADRACE = Path(sys.executable).with_name("headrace")
KIB = 1 << 10


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(path: Path, size: int = 300_000) -> str:
    with h5py.File(path, "w") as f:
        f["d"] = np.random.default_rng(3).integers(0, 255, size, np.uint8)
        f["d"].attrs["made"] = "here"
    return digest(path)


def cut(path: Path, stripe: int, count: int, *folders: Path) -> StripedSet:
    return split(path, path, Layout(stripe, count), folders, lambda _: None)


@pytest.mark.parametrize("stripe", [1 * KIB, 4 * KIB, 5000, 64 * KIB, 1 << 25])
@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_there_and_back(tmp_path: Path, stripe: int, count: int) -> None:
    path = tmp_path / "x.h5"
    before = make(path)
    cut(path, stripe, count)
    found = find(path)
    assert (found.layout, found.size) == (Layout(stripe, count), len(whole := assembled(found)))
    assert hashlib.sha256(whole).hexdigest() == before
    assert not check.fault_of(found)
    fuse(found, path, lambda _: None, verify=True)
    remove_pieces(found)
    assert digest(path) == before
    assert list(tmp_path.iterdir()) == [path]


def assembled(found: StripedSet) -> bytes:
    """Stripe by stripe, in the plainest way."""
    rest = [each.read_bytes() for each in found.subfiles]
    whole = b""
    while any(rest):
        for number, data in enumerate(rest):
            whole += data[: found.layout.stripe]
            rest[number] = data[found.layout.stripe :]
    return whole


def test_a_stub_is_loud(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    make(path)
    cut(path, 4 * KIB, 2)
    with pytest.raises(OSError, match="bad superblock version"):
        h5py.File(path)
    assert b"headrace fuse x.h5" in path.read_bytes()


def test_a_file_that_took_the_stubs_place(tmp_path: Path) -> None:
    """`cp` keeps the inode, by which the pieces of the file that was there would be found."""
    path, other = tmp_path / "x.h5", tmp_path / "other.h5"
    make(path)
    cut(path, 4 * KIB, 2)
    after = make(other, 1000)
    shutil.copyfile(other, path)
    with pytest.raises(FileError, match="a file of its own"):
        find(path)
    assert digest(path) == after
    path.write_bytes(b"no HDF5")
    with pytest.raises(FileError, match="nor the stub"):
        find(path)


def test_a_stub_that_was_copied_over_another_one(tmp_path: Path) -> None:
    """Without its pieces, as a program does that knows of none: the others must not be read."""
    path, other = tmp_path / "x.h5", tmp_path / "other.h5"
    for each in (path, other):
        make(each)
        cut(each, 4 * KIB, 2)
    shutil.copyfile(other, path)
    with pytest.raises(FileError, match="copied without its pieces"):
        find(path)


def test_a_stub_that_was_renamed(tmp_path: Path) -> None:
    """Its pieces are found by its number and identity, beside a damaged set of that number."""
    path, renamed = tmp_path / "x.h5", tmp_path / "y.h5"
    make(path)
    made = cut(path, 4 * KIB, 2)
    path.rename(renamed)
    assert find(renamed).subfiles == made.subfiles
    made.config.with_name(made.config.name.replace("x.h5", "old.h5")).touch()
    assert find(renamed).subfiles == made.subfiles


def test_holes_stay_holes(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (1 << 26,), "u1", fillvalue=None)
        d[0] = d[-1] = 7
    before, blocks = digest(path), path.stat().st_blocks
    found = cut(path, 64 * KIB, 3)
    assert sum(each.stat().st_blocks for each in found.subfiles) < blocks + 1000
    fuse(found, path, lambda _: None, verify=False)
    assert digest(path) == before
    assert path.stat().st_blocks < blocks + 1000


def test_several_folders_and_moved(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for each in folders:
        each.mkdir()
    path = tmp_path / "x.h5"
    before = make(path)
    cut(path, 4 * KIB, 3, *folders)
    assert [len(list(each.iterdir())) for each in folders] == [2, 1]
    target = tmp_path / "there" / "y.h5"
    target.parent.mkdir()
    found = find(path)
    moved = copy_set(found, target, lambda _: None)
    remove_pieces(found)
    assert not any(list(each.iterdir()) for each in folders)
    fuse(find(target), target, lambda _: None, verify=True)
    assert digest(target) == before
    assert moved.config.name.startswith("y.h5.subfile_")


def test_a_folder_that_was_renamed_or_copied(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    before = make(here / "x.h5")
    cut(here / "x.h5", 4 * KIB, 3)
    shutil.copytree(here, there)
    shutil.rmtree(here)
    fuse(find(there / "x.h5"), there / "x.h5", lambda _: None, verify=True)
    assert digest(there / "x.h5") == before


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    make(path)
    found = cut(path, 4 * KIB, 3)
    found.subfiles[1].rename(tmp_path / "away")
    with pytest.raises(FileError, match="_2_of_3: this subfile is missing"):
        find(path)
    (tmp_path / "away").rename(found.subfiles[1])
    os.truncate(found.subfiles[2], 10)
    with pytest.raises(FileError, match="_3_of_3: this subfile has 10 bytes, and had 10"):
        find(path)
    state_path(found.config).unlink()
    assert "a subfile ends early" in check.fault_of(find(path))
    found.config.unlink()
    with pytest.raises(FileError, match="no configuration of its set lies beside it"):
        find(path)
    with pytest.raises(FileError, match="No such file"):
        find(tmp_path / "none.h5")


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("stripe_size=4096", "stripe_size=0", "stripe_size=0 is no number"),
        ("stripe_size=4096", "stripe_size=9999999999999999999999", "is no number"),
        ("stripe_size=4096", "size=4096", "line 1 is not stripe_size"),
        ("subfile_count=2", "subfile_count=3", "it names 2 subfiles of 3"),
        ("subfile_count=2", "subfile_count=-2", "is no number"),
        ("x.h5.subfile", "../x.h5.subfile", "is no name of a subfile"),
        ("_2_of_2", "_1_of_2", "names a subfile twice"),
    ],
)
def test_hostile_configurations(tmp_path: Path, before: str, after: str, why: str) -> None:
    path = tmp_path / "x.h5"
    make(path)
    found = cut(path, 4 * KIB, 2)
    text = found.config.read_text()
    assert before in text
    found.config.write_text(text.replace(before, after))
    with pytest.raises(FileError, match=why):
        find(path)


def test_a_link_out_of_the_set_is_not_followed_when_pieces_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    make(path)
    found = cut(path, 4 * KIB, 2)
    precious = tmp_path / "precious"
    found.subfiles[0].rename(precious)
    found.subfiles[0].symlink_to(precious)
    remove_pieces(find(path))
    assert precious.exists()


@pytest.mark.parametrize("words", [("fuse",), ("restripe", "--size", "8KiB"), ("stripe", "move")])
def test_whoever_is_killed_loses_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    """At any moment the file is whole, or its set is."""
    path, target = tmp_path / "x.h5", tmp_path / "moved.h5"
    before = make(path, 8 << 20)
    cut(path, 4 * KIB, 4)
    first, *rest = words
    command = [str(HEADRACE), first, *rest]
    command += [str(path), str(target)] if rest == ["move"] else [str(path)]
    for delay in np.linspace(0.15, 0.8, 8):
        started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        started.send_signal(signal.SIGKILL)
        started.wait()
        there = target if target.exists() else path
        if there == target or is_whole(there):
            break
        require(find(there), tmp_path / "copy.h5", before)
    else:
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    there = target if target.exists() else path
    if not is_whole(there):
        require(find(there), there, before)
    assert digest(there) == before


def is_whole(path: Path) -> bool:
    """Whether it is a file of its own, not a set's stub."""
    return not path.read_bytes().startswith(b"\x89HDF\r\n\x1a\n\n")


def require(found: StripedSet, output: Path, content: str) -> None:
    fuse(found, output, lambda _: None, verify=False)
    assert digest(output) == content
