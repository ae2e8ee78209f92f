"""What a set's state says: whether it was closed, how long its pieces were then, and checksums."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness.layer import Layer

from headrace.errors import FileError
from headrace.stripe import check
from headrace.stripe.fuse import copy_set, make_whole
from headrace.stripe.sets import StripedSet, find
from headrace.stripe.state import SetState, read_state, state_path

pytestmark = pytest.mark.sanitized
HEADRACE = Path(sys.executable).with_name("headrace")
WRITE = """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(100000.0)
"""
READ = "assert (h5py.File('x.h5')['d'][()] == np.arange(100000.0)).all()"
DIE = """
f = h5py.File("x.h5", "w")
f["d"] = np.arange(100000.0)
f.flush()
f.create_dataset("lost", (10**6,), chunks=(1000,))[:] = 1
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual="files=3;size=4KiB;")


def found_in(layer: Layer) -> StripedSet:
    return find(layer.folder / "x.h5")


def verify(layer: Layer) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HEADRACE, "stripe", "verify", layer.folder / "x.h5"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("stack", ["", "async"])
@pytest.mark.parametrize(
    "change",
    [
        "pass",
        "f.require_dataset('more', (5000,), 'i8')[:] = 5",
        "f['d'][:] = np.arange(100000.0)",
        "del f['d']; f['d'] = np.arange(100000.0)",
        "f.create_dataset('late', (10**6,), 'i8')[-1] = 1",
    ],
)
def test_pieces_are_as_long_as_it_says(layer: Layer, stack: str, change: str) -> None:
    """Also where none of a piece has been written: all of it is a hole then."""
    above = layer
    if stack:
        below = f"under_vol=7214;under_info={{{layer.usual}{layer.below}}}"
        above = Layer(layer.folder, "async", ("vol", "vfd"), "seat=both;", below=below)
    above.python(WRITE)
    for mode in ("r+", "a"):
        above.python(f"with h5py.File('x.h5', {mode!r}) as f:\n    if 'late' not in f: {change}")
        found = found_in(layer)
        assert found.state == SetState(closed=True, size=found.size)
        assert found.sizes == tuple(found.layout.piece_size(n, found.size) for n in range(3))
    layer.python(READ)
    assert "complete" in verify(layer).stdout
    assert "was not closed" not in layer.log


def test_who_dies_leaves_it_open(layer: Layer) -> None:
    """What was flushed is there, and the next writer closes it."""
    assert layer.start(DIE).status == -9
    assert read_state(found_in(layer).config) == SetState(closed=False)
    done = verify(layer)
    assert done.returncode != 0
    assert "was not closed" in done.stderr
    layer.python(READ)
    assert layer.log.count("was not closed by who wrote it last") == 1
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.python(READ)
    assert layer.log.count("was not closed by who wrote it last") == 2
    assert "complete" in verify(layer).stdout


def test_open_twice_in_a_program(layer: Layer) -> None:
    layer.python("f = h5py.File('x.h5', 'w'); g = h5py.File('x.h5', 'r+'); f['d'] = 1; f.close()")
    assert "was not closed" not in layer.log
    assert found_in(layer).state == SetState(closed=True, size=found_in(layer).size)


@pytest.mark.share(1)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_piece_copied_in_part(layer: Layer, number: int) -> None:
    """Without a state what is missing in the middle reads as zeros."""
    layer.python(WRITE)
    found = found_in(layer)
    os.truncate(found.subfiles[number], 5000)
    for mode in ("r", "r+"):
        done = layer.start(f"h5py.File('x.h5', {mode!r})")
        assert done.status == 1
        assert f"_{number + 1}_of_3: this subfile has 5000 bytes, and had" in done.text
    with pytest.raises(FileError, match="this subfile has 5000 bytes"):
        find(layer.folder / "x.h5")
    assert "this subfile has 5000 bytes" in verify(layer).stderr
    state_path(found.config).unlink()
    if number == 1:
        layer.python("assert 0 < (h5py.File('x.h5')['d'][()] == 0).sum() < 50000")


def test_an_older_piece(layer: Layer) -> None:
    """Of the same length: checksums tell it."""
    layer.python(WRITE, "files=3;size=4KiB;checksums=true;")
    assert "checksums fit" in " ".join(verify(layer).stdout.split())
    found = found_in(layer)
    older = shutil.copy(found.subfiles[1], layer.folder / "older")
    layer.python("h5py.File('x.h5', 'r+')['d'][:] = 5", "checksums=true;")
    assert "checksums fit" in " ".join(verify(layer).stdout.split())
    state = state_path(found.config)
    whole = state.read_text()
    state.write_text(re.sub("crc32=.*\n", "", whole, count=1))
    assert "it has 2 checksums of 3 subfiles" in " ".join(verify(layer).stderr.split())
    state.write_text(whole)
    shutil.copyfile(older, found.subfiles[1])
    told = " ".join(verify(layer).stderr.split())
    assert "_2_of_3: its bytes are not those that it had when" in told
    with pytest.raises(FileError, match="its bytes are not those"):
        make_whole(found_in(layer), layer.folder / "whole.h5", lambda _: None, verify=True)
    assert not (layer.folder / "whole.h5").exists()


@pytest.mark.parametrize(
    "text", ["", "state=closed\n", "headrace_stripe=1\nstate=closed\nsize=5", "\0" * 40, "é" * 9]
)
def test_a_damaged_state_is_none(layer: Layer, text: str) -> None:
    layer.python(WRITE)
    state_path(found_in(layer).config).write_text(text)
    layer.python(READ)
    assert found_in(layer).state is None
    assert "there are no checksums" in " ".join(verify(layer).stdout.split())


def test_moved_sets_have_theirs(layer: Layer) -> None:
    layer.python(WRITE)
    moved = copy_set(found_in(layer), layer.folder / "y.h5", lambda _: None)
    assert find(moved.stub).state == found_in(layer).state
    assert not check.fault_of(moved)
