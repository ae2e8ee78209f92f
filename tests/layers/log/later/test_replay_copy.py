"""headrace replay works on a copy, which takes the file's place."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import h5py
import pytest
from harness.corpus import compile_preload
from harness.prefix import Hdf5
from harness.run import run
from harness.seed import LONG
from harness.stack import CLEAN
from layers.log.later.commands import (
    HEADRACE,
    assert_right,
    headrace,
    logs,
    plain,
    run_logged,
    write,
)


def make_large() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (700, 700), "i4", chunks=(2, 2))
    d[:, ::2] = 7
    f.close()


def read_large() -> None:
    d = h5py.File("x.h5")["d"][...]
    assert (d[:, ::2] == 7).all()
    assert not d[:, 1::2].any()


def write_large(folder: Path) -> None:
    run_logged(folder, make_large)


def in_order(folder: Path) -> bool:
    return plain(folder, read_large).status == 0


def start_replay(folder: Path, *options: str, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [HEADRACE, "replay", *options, "x.h5"],
        env=CLEAN | more,
        cwd=folder,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )


def working_copies(folder: Path) -> list[Path]:
    return list(folder.glob("x.h5.headrace/*.h5"))


@pytest.mark.share(1)
@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)
@pytest.mark.parametrize("by_rank", [False, True])
def test_interrupts_wait_for_what_is_written_in_place(
    tmp_path: Path, hdf5: Hdf5, *, by_rank: bool
) -> None:
    """A file that HDF5 has written half is none."""
    library = [f"--hdf5={hdf5.prefix}/lib/libhdf5.so"] if by_rank else []
    write_large(tmp_path)
    before = (tmp_path / "x.h5").stat().st_size
    started = start_replay(tmp_path, "--in-place", *library)
    while (tmp_path / "x.h5").stat().st_size == before:
        assert started.poll() is None
    for _ in range(3):
        os.killpg(started.pid, signal.SIGINT)
        time.sleep(0.05)
    assert started.wait(300) != 0
    assert not logs(tmp_path)
    assert in_order(tmp_path)


def test_interrupts_leave_no_copy(tmp_path: Path) -> None:
    write_large(tmp_path)
    before = (tmp_path / "x.h5").read_bytes()
    started = start_replay(tmp_path)
    while not working_copies(tmp_path):
        assert started.poll() is None
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait(300) != 0
    assert len(list(tmp_path.glob("x.h5.headrace/*"))) == len(logs(tmp_path)) == 1
    assert (tmp_path / "x.h5").read_bytes() == before


def kill_all(folder: Path) -> None:
    """What works on a file in that folder."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{folder}/x.h5" in path.read_text():
                os.kill(int(path.parent.name), signal.SIGKILL)


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Another one finds all as it was, or all in order."""
    write_large(tmp_path)
    moments = random.Random(3)  # noqa: S311
    amid = 0
    kills = 24 if LONG else 3
    for _ in range(kills):
        if in_order(tmp_path):  # though its log may have been left
            shutil.rmtree(tmp_path / "x.h5.headrace", ignore_errors=True)
            write_large(tmp_path)
        started = start_replay(tmp_path)
        while started.poll() is None and not working_copies(tmp_path):
            pass
        time.sleep(moments.random() * 3)
        started.kill()
        kill_all(tmp_path)
        started.wait()
        amid += bool(working_copies(tmp_path))
    assert amid >= kills // 3
    if not in_order(tmp_path):
        assert headrace(tmp_path, "replay", "x.h5").status == 0
        assert not (tmp_path / "x.h5.headrace").exists()
    assert in_order(tmp_path)


def test_files_that_have_no_copy(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "x.h5").chmod(0o640)
    (tmp_path / "other.h5").hardlink_to(tmp_path / "x.h5")
    before = (tmp_path / "x.h5").read_bytes()
    done = headrace(tmp_path, "replay", "x.h5")
    assert done.status == 2
    assert "several names, and would keep one only; `--in-place` needs no copy" in done.text
    limited = ["prlimit", f"--fsize={len(before) // 2}", str(HEADRACE), "replay", "x.h5"]
    (tmp_path / "other.h5").unlink()
    assert run(limited, env=CLEAN, cwd=tmp_path, limit=60).status == 2
    assert (tmp_path / "x.h5").read_bytes() == before
    assert len(list(tmp_path.glob("x.h5.headrace/*"))) == 1
    (tmp_path / "other.h5").hardlink_to(tmp_path / "x.h5")
    assert headrace(tmp_path, "replay", "--in-place", "x.h5").status == 0
    assert (tmp_path / "x.h5").samefile(tmp_path / "other.h5")
    assert_right(tmp_path)


def test_the_copy_is_what_the_file_was(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "x.h5"
    file.chmod(0o640)
    (tmp_path / "link.h5").symlink_to("x.h5")
    assert headrace(tmp_path, "replay", "link.h5").status == 0
    assert (tmp_path / "link.h5").is_symlink()
    assert file.stat().st_mode & 0o7777 == 0o640
    assert_right(tmp_path)


def test_two_at_once(tmp_path: Path) -> None:
    """The second one waits, and finds all in order."""
    write(tmp_path)
    with logs(tmp_path)[0].open() as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        both = [start_replay(tmp_path), start_replay(tmp_path)]
        time.sleep(1)
        assert [one.poll() for one in both] == [None, None]
        assert not working_copies(tmp_path)
    assert [one.wait(60) for one in both] == [0, 0]
    assert_right(tmp_path)


@pytest.mark.share(1)
@pytest.mark.parametrize("locks", [{}, {"NO_LOCKS": "1"}])
@pytest.mark.parametrize("after", [0.1, 0.4, 0.8])
def test_two_at_once_where_locks_do_not_work(
    tmp_path: Path, locks: dict[str, str], after: float
) -> None:
    write_large(tmp_path)
    more = {"LD_PRELOAD": str(compile_preload(tmp_path, Path(__file__).with_name("nfs_locks.c")))}
    both = [start_replay(tmp_path, **more, **locks)]
    while both[0].poll() is None and not working_copies(tmp_path):
        pass
    time.sleep(after)
    both.append(start_replay(tmp_path, **more, **locks))
    ends = [one.wait(60) for one in both]
    assert ends == [0, 0] or (locks and 0 in ends)
    assert not logs(tmp_path)
    assert not working_copies(tmp_path)
    assert in_order(tmp_path)


def test_another_program_takes_the_name_of_the_output(tmp_path: Path) -> None:
    """Its log is not ours to remove."""
    write_large(tmp_path)
    started = start_replay(tmp_path, "--output", "y.h5")
    while not (copies := list(tmp_path.glob("y.h5.headrace/*.h5"))):
        assert started.poll() is None
    theirs = copies[0].with_name("theirs.log")
    theirs.touch()
    (tmp_path / "y.h5").touch()
    assert started.wait(60) == 2
    assert list(tmp_path.glob("y.h5.headrace/*")) == [theirs]


def test_logs_that_are_elsewhere(tmp_path: Path) -> None:
    write(tmp_path)
    folder = (tmp_path / "x.h5.headrace").rename(tmp_path / "logs")
    (tmp_path / "x.h5.headrace").symlink_to(folder)
    assert headrace(tmp_path, "replay", "x.h5").status == 0
    assert not list(folder.iterdir())
    assert_right(tmp_path)
