"""headrace replay and recover, as they are installed."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.run import run
from harness.stack import CLEAN
from layers.log.later.commands import (
    HEADRACE,
    assert_right,
    begin,
    headrace,
    logged,
    logs,
    plain,
    run_logged,
    write,
    write_and_die,
    write_flush_and_die,
)


@pytest.mark.parametrize("sync", [[], ["--sync"]])
@pytest.mark.parametrize("command", ["replay", "recover"])
def test_a_file_is_put_in_order(tmp_path: Path, command: str, sync: list[str]) -> None:
    write(tmp_path)
    done = headrace(tmp_path, command, "x.h5", *sync)
    assert done.text.splitlines() == ["x.h5 has all that was in its log"], done.text
    assert not (tmp_path / "x.h5.headrace").exists()
    assert_right(tmp_path)
    assert headrace(tmp_path, command, "x.h5").text.splitlines() == ["x.h5 has no log"]


@pytest.mark.parametrize("command", ["replay", "recover"])
def test_to_another_file(tmp_path: Path, command: str) -> None:
    write(tmp_path)
    kept = {path: path.read_bytes() for path in (tmp_path / "x.h5", *logs(tmp_path))}
    done = headrace(tmp_path, command, "x.h5", "--output", "y.h5")
    assert done.text.splitlines() == ["y.h5 has all that was in its log"], done.text
    assert {path: path.read_bytes() for path in kept} == kept
    assert not (tmp_path / "y.h5.headrace").exists()
    done = headrace(tmp_path, command, "x.h5", "-o", "y.h5")
    assert done.status == 2
    assert "y.h5: is there already" in done.text
    (tmp_path / "x.h5").unlink()
    (tmp_path / "y.h5").rename(tmp_path / "x.h5")
    assert_right(tmp_path)


def test_a_report_that_cannot_be_read_back(tmp_path: Path) -> None:
    write(tmp_path)
    environ = CLEAN | {"HEADRACE_REPORT": os.devnull}
    done = run([HEADRACE, "replay", "x.h5"], env=environ, cwd=tmp_path, limit=60)
    assert done.status == 2
    assert "HEADRACE_REPORT must name an ordinary file" in done.text, done.text
    assert logs(tmp_path)


def test_to_another_file_that_fails(tmp_path: Path) -> None:
    write(tmp_path, write_and_die)
    for output in ("y.h5", "absent/y.h5"):
        assert headrace(tmp_path, "replay", "x.h5", "-o", output).status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.h5", "x.h5.headrace"]
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text


def test_another_files_log_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path)
    folder = tmp_path / "y.h5.headrace"
    folder.mkdir()
    (folder / "mine").touch()
    (tmp_path / "link.h5").symlink_to("absent.h5")
    for output in ("y.h5", "link.h5"):
        done = headrace(tmp_path, "replay", "x.h5", "-o", output)
        assert done.status == 2
        assert "is there already" in done.text
    assert (folder / "mine").exists()
    assert (tmp_path / "link.h5").is_symlink()
    assert not (tmp_path / "y.h5").exists()


@pytest.mark.parametrize("locking", ["TRUE", "BEST_EFFORT", "FALSE"])
def test_however_files_are_locked(tmp_path: Path, locking: str) -> None:
    write(tmp_path)
    environ = CLEAN | {"HDF5_USE_FILE_LOCKING": locking}
    done = run([HEADRACE, "replay", "x.h5"], env=environ, cwd=tmp_path, limit=60)
    assert done.status == 0, done.text
    assert_right(tmp_path)


def test_after_a_crash(tmp_path: Path) -> None:
    write(tmp_path, write_and_die)
    with logs(tmp_path)[0].open("ab") as log:
        log.write(b"HRLG" + bytes(1000))  # as if more had come before the end
    before = (tmp_path / "x.h5").read_bytes()
    done = headrace(tmp_path, "replay", "x.h5")
    assert done.status == 2
    assert "did not close it; `headrace recover` takes what" in done.text
    assert (tmp_path / "x.h5").read_bytes() == before
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text
    assert "1004 bytes of the log were after the last flush" in done.text
    assert_right(tmp_path, odd=0)


def test_after_a_crash_in_the_latest_format(tmp_path: Path) -> None:
    """HDF5 says of such a file that it is open for writing, and opens it no more."""
    write(tmp_path, partial(write_and_die, "latest"))
    done = plain(tmp_path, "import h5py; h5py.File('x.h5')")
    assert "already open for write" in done.text
    assert "already open for write" in headrace(tmp_path, "replay", "x.h5").text
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text
    assert_right(tmp_path, odd=0)


def write_and_wait() -> None:
    f, _d = begin("latest")
    print(flush=True)
    input()
    f.close()


def test_a_writer_that_is_alive(tmp_path: Path) -> None:
    """What HDF5 says is right then."""
    with subprocess.Popen(
        logged(write_and_wait),
        env=CLEAN, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as writer:  # fmt: skip
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.readline()
        done = headrace(tmp_path, "recover", "x.h5")
        assert done.status == 2
        assert "unable to lock file" in done.text, done.text
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        assert writer.wait(60) == 0
    assert headrace(tmp_path, "replay", "x.h5").status == 0
    assert_right(tmp_path)


def die_before_a_log_is_flushed() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4")
    d[...] = 5
    f.flush()
    d[:, ::2] = 7
    os._exit(0)


def test_a_crash_before_the_first_flush(tmp_path: Path) -> None:
    """Nothing is lost that was to be there, and the log is told to be of no use."""
    run_logged(tmp_path, die_before_a_log_is_flushed)
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text
    assert "x.h5 has no log" in done.text
    assert f"log {logs(tmp_path)[0]} does not belong to x.h5" in done.text, done.text
    same = "import h5py; assert (h5py.File('x.h5')['d'][...] == 5).all()"
    assert plain(tmp_path, same).status == 0


def test_a_crash_does_not_damage_what_was_flushed(tmp_path: Path) -> None:
    write(tmp_path, write_flush_and_die)
    log = logs(tmp_path)[0]
    kept = log.read_bytes()
    second = kept.index(b"HRLG", 60)
    log.write_bytes(kept[:second] + bytes(32) + kept[second + 32 :])
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 2
    assert f"segment at byte {second} is not whole, but others follow it" in done.text, done.text
    log.write_bytes(kept)
    assert headrace(tmp_path, "recover", "x.h5").status == 0
    assert_right(tmp_path)


def write_filtered() -> None:
    filters: dict[str, dict[str, int | str]] = {
        "lossy": {"scaleoffset": 2},
        "exact": {"compression": "lzf"},
    }
    with h5py.File("x.h5", "w") as f:
        for name, options in filters.items():
            d = f.create_dataset(name, (100, 100), "f4", chunks=(10, 100), **options)
            for k in range(100):
                d[:, k] = np.arange(100) / 7


def check_filtered() -> None:
    f = h5py.File("x.h5")
    a = np.arange(100)[:, None] / 7
    assert abs(f["lossy"] - a).max() < 0.01
    assert (f["exact"] == a.astype("f4")).all()


def test_filters_that_change_values(tmp_path: Path) -> None:
    """What they give back cannot be compared with the log."""
    run_logged(tmp_path, write_filtered)
    done = headrace(tmp_path, "replay", "x.h5")
    assert done.status == 0, done.text
    assert "x.h5 has all that was in its log" in done.text
    assert "dataset /lossy was not compared: values may change in scaleoffset" in done.text
    assert "/exact" not in done.text
    assert plain(tmp_path, check_filtered).status == 0


def test_what_does_not_belong_together(tmp_path: Path) -> None:
    write(tmp_path)
    log = logs(tmp_path)[0]
    kept = log.read_bytes()
    log.write_bytes(kept[:200] + bytes([kept[200] ^ 1]) + kept[201:])
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 2
    assert f"log {log} cannot be used: the data at byte" in done.text, done.text
    log.write_bytes(kept)
    (tmp_path / "x.h5").rename(tmp_path / "y.h5")
    done = headrace(tmp_path, "replay", "y.h5")
    assert done.status == 2
    assert "a part of its data is in log" in done.text, done.text
    assert plain(tmp_path, "import h5py; h5py.File('x.h5', 'w')").status == 0
    done = headrace(tmp_path, "replay", "x.h5")
    assert done.status == 2
    assert f"log {log} does not belong to it" in done.text, done.text
    assert log.read_bytes() == kept
    assert headrace(tmp_path, "replay", "z.h5").status == 2


def test_what_waits_is_listed(tmp_path: Path) -> None:
    write(tmp_path)
    told = headrace(tmp_path, "log", "ls", "x.h5")
    assert told.status == 0, told.text
    row = next(line.split() for line in told.text.splitlines() if line.startswith("/d "))
    # 100 columns of even numbers, then the odd elements of 100 rows: h5py spreads a number row by
    # row. Nothing overlaps.
    assert row == ["/d", "200", "60,000", "240.0", "kB", "0", "bytes"]
    assert "240.0 kB of data" in told.text
    assert "2 patterns" in told.text
    alone = headrace(tmp_path, "log", "ls", str(logs(tmp_path)[0]))
    assert alone.text == told.text


def test_listing_what_is_no_log(tmp_path: Path) -> None:
    write(tmp_path)
    (log,) = logs(tmp_path)
    whole = log.read_bytes()
    assert headrace(tmp_path, "log", "ls", "none.h5").status != 0
    log.write_bytes(whole[:-5])
    cut = headrace(tmp_path, "log", "ls", "x.h5")
    assert cut.status == 0, cut.text
    assert "was not closed" in cut.text
    middle = bytearray(whole)
    middle[200] ^= 1
    log.write_bytes(middle)
    damaged = headrace(tmp_path, "log", "ls", "x.h5")
    assert "another checksum" in damaged.text
    assert damaged.status == 1
    log.write_bytes(b"nonsense" * 100)
    assert "800 bytes at its end are of no flush" in headrace(tmp_path, "log", "ls", "x.h5").text
    log.unlink()
    assert "has no log" in headrace(tmp_path, "log", "ls", "x.h5").text
