"""Chunks that are compressed after the write that brought them has returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from filters.conftest import Filters

BEGIN = """
    import h5py, numpy, os, sys
    random = numpy.random.default_rng(1)
    def frame(i):
        return (numpy.arange(200_000, dtype="f4") // 7 + i).reshape(400, 500)
    rest = dict(chunks=(100, 500), compression=4)
"""
ALL_FRAMES = (
    "all((f[f'd{i}'][...].ravel() == __import__('numpy').arange(200_000) // 7 + i).all()"
    " for i in range(20))"
)


def test_new_datasets(filters: Filters) -> None:
    filters.python(
        BEGIN
        + """
    with h5py.File("x.h5", "w") as f:
        for i in range(20):
            f.create_group(f"group/{i}").create_dataset("d", data=frame(i), **rest)
            f[f"d{i}"] = f[f"group/{i}/d"]
            f[f"d{i}"].attrs["number"] = i
    """
    )
    assert filters.plain(ALL_FRAMES) == "True"
    assert filters.counts["chunks_encoded_behind"] == filters.counts["chunks_encoded"] == 80


def test_appended_frames(filters: Filters) -> None:
    filters.python(
        BEGIN
        + """
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (0, 400, 500), "f4", maxshape=(None, 400, 500),
                             chunks=(1, 100, 500), compression=4)
        for i in range(20):
            d.resize(i + 1, 0)
            d[i] = frame(i)
            if i > 3:
                assert (d[i - 3] == frame(i - 3)).all()
    """
    )
    assert filters.plain("[float(f['d'][i, 0, 0]) for i in range(20)] == list(range(20))") == "True"
    assert filters.counts["chunks_encoded_behind"] == 80


def test_the_programs_buffer_is_free_at_once(filters: Filters) -> None:
    filters.python(
        BEGIN
        + """
    with h5py.File("x.h5", "w") as f:
        buffer = frame(0)
        for i in range(20):
            buffer[...] = frame(i)
            f.create_dataset(f"d{i}", data=buffer, **rest)
            buffer[...] = -1
    """
    )
    assert filters.plain(ALL_FRAMES) == "True"


# What may follow the write of a chunk at once; `d` is all sevens before.
AFTER = {
    "the_same_again": ("d[...] = 8", 8 * 200_000),
    "a_part": ("d[50] = 8", 7 * 200_000 + 500),
    "parts": ("for i in range(400): d[i, 3:4] = 8", 7 * 200_000 + 400),
    "scattered": ("d[[3, 5], :] = 8", 7 * 200_000 + 1000),
    "closed_and_opened": ("d = None; f['d'][0] = 8", 7 * 200_000 + 500),
    "two_handles": ("e = f['d']; e[0] = 8; d[1] = 8; e = None; d[2] = 8", 7 * 200_000 + 1500),
    "shrunk": ("d.resize(100, 0); d.resize(400, 0)", 7 * 50_000),
    "shrunk_within_a_chunk": ("d.resize(50, 0); d.resize(400, 0)", 7 * 25_000),
    "deleted": ("d = None; del f['d']; f.create_dataset('d', data=[9.0])", 9),
    "moved": ("d = None; f.move('d', 'e'); f.move('e', 'd')", 7 * 200_000),
    "copied": ("f.copy('d', 'e'); del f['d']; f.move('e', 'd')", 7 * 200_000),
    "replaced": ("d = None; del f['d']; f.create_dataset('d', data=frame(0) * 0 + 1)", 200_000),
    "exit": ("keep = (f, d); sys.exit()", 7 * 200_000),
    "exit_closed": ("d = None; keep = f; sys.exit()", 7 * 200_000),
    "forked": (
        "child = os.fork()\n"
        "    if child == 0: os._exit(0 if (d[...] == 7).all() else 1)\n"
        "    d[0] = 8; assert os.waitpid(child, 0)[1] == 0",
        7 * 200_000 + 500,
    ),
    "child_exits": (
        "child = os.fork()\n"
        "    if child == 0: os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0; d[0] = 8",
        7 * 200_000 + 500,
    ),
}


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("options", ["seat=vol;", "seat=both;chunk_cache=300000;threads=1;"])
def test_what_follows(filters: Filters, after: str, options: str) -> None:
    text, total = AFTER[after]
    filters.python(
        BEGIN
        + f"""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (400, 500), "f4", maxshape=(None, 500), **rest)
    d[...] = 7
    {text}
    f.close()
    """,
        options,
    )
    assert filters.plain("float(f['d'][...].sum(dtype='f8'))") == str(float(total))


def test_a_chunk_changes_while_it_is_encoded(filters: Filters) -> None:
    """The whole chunk takes a second, so the part comes in the midst of it."""
    filters.python(
        BEGIN
        + """
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (3_000_000,), "f8", chunks=(3_000_000,), compression=9)
        d[...] = random.random(3_000_000).round(3)
        d[2_900_000:] = 8
        assert (d[2_899_000:][1000:] == 8).all() and (d[:2_900_000] < 8).all()
    """,
        "seat=vol;threads=1;",
    )
    assert filters.plain("(f['d'][2_900_000:] == 8).all() and (f['d'][:2_900_000] < 8).all()") == (
        "True"
    )
    assert filters.counts["chunks_encoded"] == 2


def test_memory_is_bounded(filters: Filters) -> None:
    """Of a write larger than what may wait, and of many."""
    filters.python(
        BEGIN
        + """
    import resource
    big = numpy.tile(frame(0), (100, 1))
    with h5py.File("x.h5", "w") as f:
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        f.create_dataset("warm", data=frame(1), **rest)
        before = peak()
        f.create_dataset("big", data=big, **rest)
        for i in range(100):
            f.create_dataset(f"d{i}", data=frame(i), **rest)
        assert peak() - before < 48_000, peak() - before
        assert (f["big"][...] == big).all()
    """,
        "seat=vol;chunk_cache=16MiB;",
    )
    assert filters.plain(ALL_FRAMES) == "True"
    assert 0 < filters.counts["chunks_encoded_behind"] < filters.counts["chunks_encoded"] == 804


@pytest.mark.parametrize("options", ["", "seat=vol;"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_late_error_is_told_at_flush_or_close(
    filters: Filters, closed: bool, options: str
) -> None:
    """With its cause, though the dataset may be closed by then."""
    done = filters.python(
        BEGIN
        + f"""
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    f.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    d = f.create_dataset("d", data=random.random((400, 500)), **rest)
    if {closed}:
        d = None
    for call in (f.flush, f.close):
        try:
            call()
        except (OSError, RuntimeError) as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    """,
        options,
    )
    assert b"File too large" in done.out, done.text


def test_the_last_close_of_a_closed_file_completes_it(filters: Filters) -> None:
    """HDF5 keeps a file open for the objects that the program leaves open."""
    filters.python(
        BEGIN
        + """
    import subprocess
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=frame(0), **rest)
    e = f.create_dataset("e", data=frame(1), **rest)
    h5py.h5f.FileID.close(f.id)
    d[...] = 7
    e = None
    d = None
    read = "import h5py; f = h5py.File('x.h5'); assert f['d'][...].mean() == 7 == f['e'][0, 0] + 6"
    plain = {name: text for name, text in os.environ.items() if not name.startswith("HDF5_")}
    subprocess.run([sys.executable, "-c", read], check=True, env=plain)
    """
    )


def test_more_waits_than_may_be_encoded_at_once(filters: Filters) -> None:
    """Parts of chunks that nobody encodes yet, and whole ones that are finished to make way."""
    filters.python(
        BEGIN
        + """
    with h5py.File("x.h5", "w") as f:
        parts = [f.create_dataset(f"p{i}", (500_000,), "f4", chunks=(250_000,), compression=4)
                 for i in range(7)]
        for i, part in enumerate(parts):
            part[5:200_000] = i
        whole = f.create_dataset("w", data=numpy.arange(1_750_000) % 1000, dtype="f4",
                                 chunks=(250_000,), compression=9)
        f.flush()
        for i in range(7):
            assert (parts[i][5:200_000] == i).all() and parts[i][0] == 0
        assert (whole[...] == numpy.arange(1_750_000) % 1000).all()
    """,
        "seat=vol;chunk_cache=16MiB;threads=1;",
    )
    assert filters.plain("sum(f[f'p{i}'][6] for i in range(7)) + f['w'][999]") == "1020.0"
    assert filters.counts["chunks_encoded"] == 14


def test_threads_of_the_program(filters: Filters) -> None:
    filters.python(
        BEGIN
        + """
    import threading
    with h5py.File("x.h5", "w") as f:
        def write(first):
            for i in range(first, 20, 4):
                f.create_dataset(f"d{i}", data=frame(i), **rest)
                assert (f[f"d{i}"][50:60] == frame(i)[50:60]).all()
        threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
    """
    )
    assert filters.plain(ALL_FRAMES) == "True"


def test_flushed_data_survives_a_kill(filters: Filters) -> None:
    filters.python(
        BEGIN
        + """
    import signal
    child = os.fork()
    if child == 0:
        f = h5py.File("x.h5", "w")
        for i in range(20):
            f.create_dataset(f"d{i}", data=frame(i), **rest)
        f.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    """
    )
    assert filters.plain(ALL_FRAMES) == "True"
