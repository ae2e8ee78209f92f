"""What a program sees of files that are written behind it."""

from __future__ import annotations

import os
import resource
import signal
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.memory import peak

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.threads


def write_and_read_back() -> None:
    with h5py.File("x.h5", "w") as f:
        a = np.arange(3_000_000)
        d = f.create_dataset("a", data=a)
        f.create_dataset("c", data=a, chunks=(10_000,), compression=1)
        assert (d[:] == a).all()
        assert (f["c"][5:2_000_000] == a[5:2_000_000]).all()
        d[100:200] = 7
        a[100:200] = 7
        assert (d[50:300] == a[50:300]).all()
        for i in range(300):
            f[f"g/{i}"] = i


def require_what_was_read_back() -> None:
    with h5py.File("x.h5") as f:
        a = np.arange(3_000_000)
        assert (f["c"][:] == a).all()
        a[100:200] = 7
        assert (f["a"][:] == a).all()
        assert all(f[f"g/{i}"][()] == i for i in range(300))


def test_is_written_behind_and_read_back(layer: Layer) -> None:
    layer.python(write_and_read_back, "budget=1GiB;")
    layer.plain(require_what_was_read_back)
    (told,) = layer.statistics("vfd")
    assert told["written_bytes"] > 24_000_000
    assert told["written_behind_bytes"] > 24_000_000
    assert told["writes_behind"] < told["writes"] / 2, "writes are merged"


def leave_open() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(4_000_000))
    e = f.create_dataset("e", data=np.arange(100_000), chunks=(1000,))
    keep = [f, d, e, f.create_group("g"), d.attrs]
    assert keep


def test_exit_without_close(layer: Layer) -> None:
    done = layer.python(leave_open)
    assert not done.err
    assert layer.plain('f = h5py.File("x.h5"); print(f["d"][:].sum(), f["e"][:].sum())') == (
        "7999998000000 4999950000"
    )


def write_a_column() -> None:
    """HDF5 hands its elements to the driver one by one: it has no sieve buffer."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_sieve_buf_size(0)
    f = h5py.File(h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=access))
    d = f.create_dataset("d", shape=(1_000_000, 32), dtype="i8")
    d[0, 0] = 0
    column = np.arange(1_000_000)
    before = peak()
    space = d.id.get_space()
    memory = h5py.h5s.create_simple((100_000,))
    for i in range(10):
        space.select_hyperslab((i * 100_000, 5), (100_000, 1))
        d.id.write(memory, space, column[i * 100_000 : (i + 1) * 100_000])
    grown = peak() - before
    f.close()
    assert grown < 8 << 20, grown


def require_column() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:, 5] == np.arange(1_000_000)).all()
    assert d[:, 4].sum() == d[:, 6].sum() == 0


@pytest.mark.plain
def test_little_memory(layer: Layer) -> None:
    """A million tiny writes, all over a file, in a budget of 1 MiB."""
    layer.python(write_a_column, "budget=1MiB;")
    layer.plain(require_column)
    (told,) = layer.statistics("vfd")
    assert told["writes_behind"] > 1000, "memory was reused"


def limit_files_to(size: int) -> None:
    """A write past that fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def end_with_a_full_disk(call: str) -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", shape=(6_000_000,), dtype="u1")
    f.flush()
    limit_files_to(1 << 20)
    d[:] = 3
    try:
        getattr(f, call)()
    except Exception as error:
        print("told:", error)
    else:
        print("success")
    limit_files_to(resource.RLIM_INFINITY)
    if call == "flush":
        f.flush()  # tried again
        f.close()


@pytest.mark.parametrize("call", ["flush", "close"])
def test_a_late_error_is_told(layer: Layer, call: str) -> None:
    """A file that may not grow: H5Fflush and H5Fclose fail and say why."""
    done = layer.python(partial(end_with_a_full_disk, call), "budget=1GiB;")
    assert "told:" in done.text, done.text
    if call == "flush":
        assert layer.plain('print(h5py.File("x.h5")["d"][:].sum())') == "18000000"
    else:
        assert "could not be written" in layer.log


def close_with_a_full_disk() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (6_000_000,), "u1", chunks=(2_000_000,), compression=1)
    f.flush()
    limit_files_to(1 << 20)
    d[:] = np.random.default_rng(1).integers(0, 255, d.shape, "u1")
    try:
        f.close()
    except Exception as error:
        print("told:", error)
    opened = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
    print([name for name in opened if name.endswith("x.h5")])
    limit_files_to(resource.RLIM_INFINITY)
    with h5py.File("x.h5", "w") as again:
        again["a"] = 5
    f.close()


def test_a_failed_close_closes_the_file(layer: Layer) -> None:
    """A chunk that cannot be stored is told by H5Fclose, which lets go of descriptor and lock."""
    done = layer.python(close_with_a_full_disk)
    assert "told:" in done.text, done.text
    assert "a compressed chunk cannot be stored" in done.text
    assert "\n[]\n" in done.out.decode(), "a descriptor is left"
    assert layer.plain('print(h5py.File("x.h5")["a"][()])') == "5"


def write_by_two_handles() -> None:
    f = h5py.File("x.h5", "w")
    f["a"] = np.arange(1000_000)
    g = h5py.File("x.h5", "r+")
    g["b"] = np.arange(10)
    assert g["a"][-1] == 999_999
    assert f["b"][-1] == 9
    with h5py.File("y.h5", "w") as h:
        h["to"] = h5py.ExternalLink("x.h5", "/a")
        h["to"][5] = 50
        assert f["a"][5] == 50
    f.close()
    g["c"] = 1
    g.close()


def test_two_handles_to_one_file(layer: Layer) -> None:
    layer.python(write_by_two_handles)
    assert layer.plain('f = h5py.File("x.h5"); print(f["a"][5], f["b"][:].sum(), f["c"][()])') == (
        "50 45 1"
    )


def read_and_write_by_descriptor() -> None:
    f = h5py.File("x.h5", "w")
    f["a"] = np.arange(500_000)
    offset = f["a"].id.get_offset()
    fd = f.id.get_vfd_handle()
    assert (np.frombuffer(os.pread(fd, 4_000_000, offset), "i8") == np.arange(500_000)).all()
    f["a"][3] = 30
    f.flush()
    assert os.pread(fd, 1, offset + 24) == b"\x1e"
    os.pwrite(fd, b"\x1f", offset + 32)
    assert f["a"][4] == 31
    f.close()


def test_the_descriptor_sees_everything(layer: Layer) -> None:
    layer.python(read_and_write_by_descriptor)
    assert layer.plain('print(h5py.File("x.h5")["a"][4])') == "31"


def write_by_a_symbolic_link() -> None:
    Path("folder").mkdir()
    h5py.File("folder/x.h5", "w").close()
    Path("x.h5").symlink_to("folder/x.h5")
    with h5py.File("x.h5", "r+") as f:
        f["a"] = np.arange(500_000)


def test_a_symbolic_link_is_no_reason_to_wait(layer: Layer) -> None:
    """HDF5 asks for the descriptor then, to see whether the link has led to the file."""
    layer.python(write_by_a_symbolic_link, "budget=64MiB;")  # or fast storage gets it at once
    assert layer.counted("written_behind_bytes") >= 4_000_000
    assert layer.plain('print(h5py.File("x.h5")["a"][499_999])') == "499999"


def size_of(name: str) -> int:
    return Path(name).stat().st_size


def note_sizes(f: h5py.File) -> None:
    """As others see it, and as HDF5 does."""
    f.flush()
    print(size_of("x.h5"), f.id.get_filesize())


def grow_and_shrink() -> None:
    f = h5py.File("x.h5", "w", userblock_size=512)
    for i in range(20):
        f[f"d{i}"] = np.full(50_000 + i, i)
        note_sizes(f)
    for i in reversed(range(5, 20)):
        del f[f"d{i}"]
        note_sizes(f)
    for i in range(3):  # ends where sec2 last knew the end to be
        f["passing"] = np.arange(300_000 * i)
        del f["passing"]
        note_sizes(f)
    f["e"] = np.arange(70_000)
    note_sizes(f)
    for i in range(5):
        del f[f"d{i}"]
    del f["e"]
    f.close()
    print(size_of("x.h5"))
    with h5py.File("x.h5", "r+") as f:
        f["again"] = np.arange(1000)
        note_sizes(f)
        del f["again"]
    print(size_of("x.h5"))


def test_sizes_are_those_of_native(layer: Layer) -> None:
    """Growth and shrinking, at every flush."""
    ours = layer.python(grow_and_shrink).out.decode().strip()
    assert ours == layer.plain(grow_and_shrink)


def write_without_threads() -> None:
    h5py.File("first.h5", "w").close()
    if os.getuid() == 0:
        os.setuid(65534)  # the limit is not for root
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        pass
    else:
        raise AssertionError("threads can be started")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", shape=(4_000_000,), dtype="i8")
        d[:] = np.arange(4_000_000)
        f.flush()
        d[5:3_000_000] = 1
        assert d[4] == 4
        assert d[5] == 1


def require_written_without_threads() -> None:
    a = np.arange(4_000_000)
    a[5:3_000_000] = 1
    assert (h5py.File("x.h5")["d"][:] == a).all()


def test_without_threads(layer: Layer) -> None:
    """Where no thread can be started the program writes by itself."""
    layer.folder.chmod(0o777)
    layer.python(write_without_threads, "budget=4MiB;flush_interval=0;")
    layer.plain(require_written_without_threads)
