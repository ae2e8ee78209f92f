"""Chunks that are compressed after the write that brought them has returned."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from filters.fields import REST, frame, require_frames
from harness.memory import peak
from harness.program import text_of

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.threads


def create_many_datasets() -> None:
    with h5py.File("x.h5", "w") as f:
        for i in range(20):
            f.create_group(f"group/{i}").create_dataset("d", data=frame(i), **REST)
            f[f"d{i}"] = f[f"group/{i}/d"]
            f[f"d{i}"].attrs["number"] = i


def test_new_datasets(filters: Layer) -> None:
    filters.python(create_many_datasets)
    filters.plain(require_frames)
    assert filters.counted("chunks_encoded_behind") == filters.counted("chunks_encoded") == 80


def append_frames() -> None:
    with h5py.File("x.h5", "w") as f:
        how = {"maxshape": (None, 400, 500), "chunks": (1, 100, 500), "compression": 4}
        d = f.create_dataset("d", (0, 400, 500), "f4", **how)
        for i in range(20):
            d.resize(i + 1, 0)
            d[i] = frame(i)
            if i > 3:
                assert (d[i - 3] == frame(i - 3)).all()


def test_appended_frames(filters: Layer) -> None:
    filters.python(append_frames)
    assert filters.value("[float(f['d'][i, 0, 0]) for i in range(20)] == list(range(20))") == "True"
    assert filters.counted("chunks_encoded_behind") == 80


def use_one_buffer_again() -> None:
    with h5py.File("x.h5", "w") as f:
        buffer = frame(0)
        for i in range(20):
            buffer[...] = frame(i)
            f.create_dataset(f"d{i}", data=buffer, **REST)
            buffer[...] = -1


def test_the_programs_buffer_is_free_at_once(filters: Layer) -> None:
    filters.python(use_one_buffer_again)
    filters.plain(require_frames)


def write_a_part_of_a_chunk_behind_the_whole() -> None:
    random = np.random.default_rng(1)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (3_000_000,), "f8", chunks=(3_000_000,), compression=9)
        d[...] = random.random(3_000_000).round(3)
        d[2_900_000:] = 8
        assert (d[2_899_000:][1000:] == 8).all()
        assert (d[:2_900_000] < 8).all()


def test_a_chunk_changes_while_it_is_encoded(filters: Layer) -> None:
    """The whole chunk takes a second, so the part comes in the midst of it."""
    filters.python(write_a_part_of_a_chunk_behind_the_whole, "seat=vol;threads=1;")
    assert filters.value("(f['d'][2_900_000:] == 8).all() and (f['d'][:2_900_000] < 8).all()") == (
        "True"
    )
    assert filters.counted("chunks_encoded") == 2


def write_more_than_may_wait() -> None:
    big = np.tile(frame(0), (100, 1))
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("warm", data=frame(1), **REST)
        before = peak()
        f.create_dataset("big", data=big, **REST)
        for i in range(100):
            f.create_dataset(f"d{i}", data=frame(i), **REST)
        assert peak() - before < 48 << 20, peak() - before
        assert (f["big"][...] == big).all()


@pytest.mark.plain
def test_memory_is_bounded(filters: Layer) -> None:
    """Of a write larger than what may wait, and of many."""
    filters.python(write_more_than_may_wait, "seat=vol;chunk_cache=16MiB;")
    filters.plain(require_frames)
    assert 0 < filters.counted("chunks_encoded_behind") < filters.counted("chunks_encoded") == 804


def let_the_file_grow_no_more(closed: bool) -> None:
    random = np.random.default_rng(1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    f.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    kept = [f.create_dataset("d", data=random.random((400, 500)), **REST)]
    if closed:
        kept.clear()
    for call in (f.flush, f.close):
        try:
            call()
        except (OSError, RuntimeError) as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.mark.parametrize("options", ["", "seat=vol;"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_late_error_is_told_at_flush_or_close(filters: Layer, closed: bool, options: str) -> None:
    """With its cause, though the dataset may be closed by then."""
    done = filters.python(partial(let_the_file_grow_no_more, closed), options)
    assert b"File too large" in done.out, done.text


def require_sevens_beside_frame_1() -> None:
    with h5py.File("x.h5") as f:
        assert f["d"][...].mean() == 7
        assert f["e"][0, 0] == 1


def close_the_file_before_its_datasets(check: str) -> None:
    """Then `check` runs in a process without the layer."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=frame(0), **REST)
    e = f.create_dataset("e", data=frame(1), **REST)
    h5py.h5f.FileID.close(f.id)
    d[...] = 7
    del e
    del d
    plain = {name: text for name, text in os.environ.items() if not name.startswith("HDF5_")}
    subprocess.run([sys.executable, "-c", check], check=True, env=plain)


def test_the_last_close_of_a_closed_file_completes_it(filters: Layer) -> None:
    """HDF5 keeps a file open for the objects that the program leaves open."""
    check = text_of(require_sevens_beside_frame_1)
    filters.python(partial(close_the_file_before_its_datasets, check))


def write_parts_and_whole_chunks() -> None:
    with h5py.File("x.h5", "w") as f:
        how = {"chunks": (250_000,), "compression": 4}
        parts = [f.create_dataset(f"p{i}", (500_000,), "f4", **how) for i in range(7)]
        for i, part in enumerate(parts):
            part[5:200_000] = i
        data = np.arange(1_750_000) % 1000
        how = {"chunks": (250_000,), "compression": 9}
        whole = f.create_dataset("w", data=data, dtype="f4", **how)
        f.flush()
        for i in range(7):
            assert (parts[i][5:200_000] == i).all()
            assert parts[i][0] == 0
        assert (whole[...] == data).all()


def test_more_waits_than_may_be_encoded_at_once(filters: Layer) -> None:
    """Parts of chunks that nobody encodes yet, and whole ones that are finished to make way."""
    filters.python(write_parts_and_whole_chunks, "seat=vol;chunk_cache=16MiB;threads=1;")
    assert filters.value("sum(f[f'p{i}'][6] for i in range(7)) + f['w'][999]") == "1020.0"
    assert filters.counted("chunks_encoded") == 14


def write_frames(f: h5py.File, first: int) -> None:
    for i in range(first, 20, 4):
        f.create_dataset(f"d{i}", data=frame(i), **REST)
        assert (f[f"d{i}"][50:60] == frame(i)[50:60]).all()


def write_by_threads() -> None:
    with h5py.File("x.h5", "w") as f:
        threads = [threading.Thread(target=write_frames, args=(f, i)) for i in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()


def test_threads_of_the_program(filters: Layer) -> None:
    filters.python(write_by_threads)
    filters.plain(require_frames)


def kill_a_child_after_a_flush() -> None:
    child = os.fork()
    if child == 0:
        f = h5py.File("x.h5", "w")
        for i in range(20):
            f.create_dataset(f"d{i}", data=frame(i), **REST)
        f.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def test_flushed_data_survives_a_kill(filters: Layer) -> None:
    filters.python(kill_a_child_after_a_flush)
    filters.plain(require_frames)
