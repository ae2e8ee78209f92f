"""Traces of programs that are killed, fork, replace themselves and have many threads."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.seed import LONG, SEED
from layers.trace.conftest import Traced

from headrace.trace import Process, Trace

KEPT = 1.0  # seconds: what is older outlives a kill
ROWS = 1000


def write_until_killed(name: str) -> None:
    """Row after row; tells again and again how many there are, and when."""
    os.nice(5)
    d = h5py.File(name, "w").create_dataset("x", (ROWS,), "i8")
    written = 0
    while True:
        for _ in range(100):
            d[written % ROWS] = written
            written += 1
        os.write(1, f"{written} {time.monotonic()}\n".encode())


def rows_written(process: Process) -> list[int]:
    """Where each write of the dataset begins, in their order."""
    (seat,) = Trace(process.source, [process]).seats
    starts: list[int] = seat.calls["file_start"][seat.are(("dataset_write",))].tolist()
    return starts


def test_what_killed_writers_leave_is_a_prefix(layer: Traced) -> None:
    moments = random.Random(SEED)  # noqa: S311
    writers: list[subprocess.Popen[bytes]] = []
    try:
        for i in range(24 if LONG else 6):
            command = [sys.executable, "-c", text_of(partial(write_until_killed, f"x{i}.h5"))]
            with (layer.folder / f"told{i}").open("wb") as out:
                writers.append(
                    subprocess.Popen(command, env=layer.env(), cwd=layer.folder, stdout=out)
                )
        time.sleep(3)
        killed = []
        for writer in writers:
            time.sleep(moments.uniform(0, 0.5))
            killed.append(time.monotonic())
            writer.kill()
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    by_pid = {each.about["pid"]: each for each in layer.read().processes}
    assert by_pid.keys() == {each.pid for each in writers}
    for i, (writer, end) in enumerate(zip(writers, killed, strict=True)):
        told = [line.split() for line in (layer.folder / f"told{i}").read_text().splitlines()]
        certain = max(int(rows) for rows, when in told[:-1] if float(when) < end - KEPT)
        found = rows_written(by_pid[writer.pid])
        assert found == [row % ROWS for row in range(len(found))]
        assert len(found) >= certain > 0


def fork_twice() -> None:
    def write(name: str) -> None:
        with h5py.File(name, "w") as f:
            f["own"] = np.arange(10.0)

    with h5py.File("shared.h5", "w") as f:
        f["deep/shared"] = np.arange(100)
    shared = h5py.File("shared.h5")["deep/shared"]
    write("first.h5")
    if (child := os.fork()) == 0:
        write("second.h5")
        shared[:2]
        if (grandchild := os.fork()) == 0:
            write("third.h5")
            shared[:3]
            sys.exit()
        sys.exit(os.waitpid(grandchild, 0)[1])
    print(os.waitpid(child, 0)[1])
    shared[:1]


def test_forks_of_forks_know_what_their_ancestors_opened(layer: Traced) -> None:
    assert layer.python(fork_twice).out.decode() == "0\n"
    trace = layer.read()
    assert len(trace.processes) == 3
    by_depth = {}
    for number, process in enumerate(trace.processes):
        depth, parent = 0, process
        while name := parent.about.get("forked_from"):
            parent = next(each for each in trace.processes if each.source.name == name)
            depth += 1
        by_depth[depth] = number
    for depth, own in enumerate(("first.h5", "second.h5", "third.h5")):
        mine = [each for each in trace.calls.to_pylist() if each["process"] == by_depth[depth]]
        written = {each["file"] for each in mine if each["call"] == "dataset_write"}
        assert written == ({own, "shared.h5"} if depth == 0 else {own})
        read = [each for each in mine if each["call"] == "dataset_read"]
        assert {(each["path"], each["bytes"]) for each in read} == {
            ("/deep/shared", 8 * (depth + 1))
        }


def work_in_children() -> None:
    import multiprocessing  # noqa: PLC0415

    def work(name: str) -> None:
        with h5py.File(name, "w") as f:
            f["x"] = np.arange(10)

    pool = multiprocessing.get_context("fork")
    children = [pool.Process(target=work, args=(f"{i}.h5",)) for i in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    print([child.exitcode for child in children])


def test_children_of_a_process_without_files_lose_nothing(layer: Traced) -> None:
    assert layer.python(work_in_children).out.decode() == "[0, 0, 0]\n"
    processes = layer.read().processes
    assert len(processes) == 3
    for process in processes:
        (seat,) = Trace(process.source, [process]).seats
        assert seat.are(("dataset_write",)).sum() == 1
        assert seat.are(("file_close",)).sum() == 1


def replace_itself() -> None:
    again = "AGAIN" in os.environ
    f = h5py.File(f"{'second' if again else 'first'}.h5", "w")
    f["x"] = np.arange(1000)
    f.flush()
    if not again:
        time.sleep(1.2)
        os.execve(
            sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "AGAIN": "1"}
        )


def test_a_program_that_replaces_itself_has_two_traces(layer: Traced) -> None:
    layer.python(replace_itself)
    trace = layer.read()
    assert len(trace.processes) == 2
    assert len({each.about["pid"] for each in trace.processes}) == 1
    written = {(each["file"], each["bytes"]) for each in trace.calls.to_pylist()
               if each["call"] == "dataset_write"}  # fmt: skip
    assert written == {("first.h5", 8000), ("second.h5", 8000)}
    assert all(each.damage == "" for each in trace.processes)


def write_in_threads() -> None:
    f = h5py.File("x.h5", "w")
    sets = [f.create_dataset(f"d{i}", (500,), "i8", chunks=(10,)) for i in range(16)]

    def write(i: int) -> None:
        for row in range(500):
            sets[i][row] = row

    threads = [threading.Thread(target=write, args=(i,)) for i in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_threads_rows_are_complete_and_in_their_order(layer: Traced) -> None:
    layer.python(write_in_threads)
    trace = layer.read()
    (seat,) = trace.seats
    numbers = seat.process.calls["number"]
    assert len(np.unique(numbers)) == len(numbers)
    writes = seat.are(("dataset_write",))
    calls = {name: values[writes] for name, values in seat.calls.items()}
    for thread in np.unique(calls["thread"]):
        mine = calls["thread"] == thread
        assert len(np.unique(calls["object"][mine])) == 1
        assert calls["file_start"][mine].tolist() == list(range(500))
    assert len(np.unique(calls["thread"])) == 16
    thread_of = dict(zip(numbers.tolist(), seat.process.calls["thread"].tolist(), strict=True))
    requests = seat.process.requests
    within = [(call, thread) for call, thread in
              zip(requests["call"].tolist(), requests["thread"].tolist(), strict=True)
              if call]  # fmt: skip
    assert len(within) > 500
    assert all(thread_of[call] == thread for call, thread in within)


def signal_itself() -> None:
    """A handler that works with files in the midst of calls of HDF5's."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("x", (1000,), "i8")
    handled: list[int] = []

    def handle(_number: int, _frame: object) -> None:
        d[len(handled) % 1000] = 1
        handled.append(1)

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for i in range(3000):
        d[i % 1000] = 2
    signal.setitimer(signal.ITIMER_REAL, 0)
    f.close()
    print(3000 + len(handled))


def test_signals_amid_calls_lose_no_row(layer: Traced) -> None:
    written = int(layer.python(signal_itself).out)
    (process,) = layer.read().processes
    assert len(rows_written(process)) == written > 3000


@pytest.mark.long
@pytest.mark.plain
def test_thousands_of_files_open_at_once(layer: Traced) -> None:
    def open_many() -> None:
        import resource  # noqa: PLC0415

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        files = [h5py.File(f"{i}.h5", "w") for i in range(2000)]
        for i, f in enumerate(files):
            f[f"x{i}"] = i
        for f in files:
            f.close()

    layer.python(open_many, "output=traced;lines=false;")
    trace = layer.read()
    written = [(each["file"], each["path"]) for each in trace.calls.to_pylist()
               if each["call"] == "dataset_write"]  # fmt: skip
    assert sorted(written) == sorted((f"{i}.h5", f"/x{i}") for i in range(2000))
    storages = {each["file"] for each in trace.requests.to_pylist() if each["request"] == "write"}
    assert {Path(name).name for name in storages} == {f"{i}.h5" for i in range(2000)}
