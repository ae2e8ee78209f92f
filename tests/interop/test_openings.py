"""A small file that is opened, looked at and closed: a layer asks the system for nothing more.

Others of the kind that were looked for: worker threads that are woken by each file, the affinity of
the process, the size of its memory, what a path leads to, files beside the file, statistics.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.run import run
from harness.stack import NATIVE, stack_env
from harness.stacked import Stacked

TIMES = 20
_CALL = re.compile(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)")


def open_again_and_again() -> None:
    with h5py.File("x.h5", "w") as f:
        f["x"] = np.arange(1000)
    for mode in ("r", "r+"):
        with h5py.File("x.h5", mode) as f:
            f["x"][5]
        os.access("begin", os.F_OK)
        for _ in range(TIMES):
            with h5py.File("x.h5", mode) as f:
                assert f["x"][5] == 5
        os.access("end", os.F_OK)


def between_marks(lines: Iterable[str]) -> Counter[str]:
    calls: Counter[str] = Counter()
    counts = False
    for line in lines:
        if '"begin"' in line or '"end"' in line:
            counts = '"begin"' in line
        elif counts and (call := _CALL.match(line)) and "unfinished" not in line:
            calls[call[1]] += 1
    return calls


def per_pair(stack: str, folder: Path) -> dict[str, float]:
    """Of an opening to read, and one to write."""
    told = folder / stack
    program = [sys.executable, "-c", text_of(open_again_and_again)]
    command: list[str | Path] = ["strace", "-f", "-s", "16", "-o", told, *program]
    done = run(command, env=stack_env(stack), cwd=folder)
    assert done.status == 0, done.text
    calls = between_marks(told.read_text().splitlines())
    return {name: count / TIMES for name, count in calls.items()}


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    found = per_pair(NATIVE, tmp_path_factory.mktemp("native"))
    assert found["openat"] == pytest.approx(2, abs=0.2)
    return found


# Others are told of who writes a file, and of who does no more.
WRITER = {"newfstatat": 1, "fcntl": 2}
# Where is what is written behind the program?
BEHIND = {"newfstatat": 1}
# Is it a link, and are there logs beside it? Where is a relative name? Who has the log?
LOGS = {"newfstatat": 4, "getcwd": 2, "getpid": 4}


def both(*more: dict[str, int]) -> dict[str, int]:
    return dict(sum(map(Counter, more), Counter()))


@pytest.mark.parametrize(
    ("stack", "more"),
    [
        ("null", WRITER),
        ("tune", WRITER),
        ("async", both(WRITER, BEHIND)),
        ("log", both(WRITER, LOGS)),
        ("tune,async,log", both(WRITER, BEHIND, LOGS)),
    ],
)
def test_an_opening_asks_for_no_more(
    stack: str, more: dict[str, int], natively: dict[str, float], tmp_path: Path
) -> None:
    found = per_pair(stack, tmp_path)
    beyond = {name: round(count - natively.get(name, 0)) for name, count in found.items()}
    memory = ("brk", "mmap", "munmap", "madvise")  # malloc's business
    staged = ("pwritev", "sched_getaffinity") if "async" in stack else ()  # where it is written to
    assert {
        n: count for n, count in beyond.items() if count > 0 and n not in memory + staged
    } == more


def test_no_thread_is_started_for_a_file_that_is_read(tmp_path: Path) -> None:
    program = """
    import os, h5py, numpy as np
    for _ in range(3):
        with h5py.File("x.h5") as f: f["x"][:], f["x"].attrs.keys()
    print(len(os.listdir("/proc/self/task")))
    """
    stacked = Stacked(tmp_path, "async")
    stacked.plain("import h5py; h5py.File('x.h5', 'w')['x'] = range(1000)")
    native = stacked.plain(program)
    assert stacked.start(program).out.decode().strip() == native
