"""What a program and others see of files that are written behind it."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from harness.stack import CLEAN

if TYPE_CHECKING:
    from async_layer import Async


def test_is_written_behind_and_read_back(layer: Async) -> None:
    layer.python(
        """
        import h5py, numpy as np
        with h5py.File("x.h5", "w") as f:
            a = np.arange(3_000_000)
            d = f.create_dataset("a", data=a)
            f.create_dataset("c", data=a, chunks=(10_000,), compression=1)
            assert (d[:] == a).all() and (f["c"][5:2_000_000] == a[5:2_000_000]).all()
            d[100:200] = 7
            a[100:200] = 7
            assert (d[50:300] == a[50:300]).all()
            for i in range(300):
                f[f"g/{i}"] = i
    """,
        "budget=1GiB;",
    )
    found = layer.plain("""
        with h5py.File("x.h5") as f:
            a = np.arange(3_000_000); c = a.copy(); a[100:200] = 7
            print((f["a"][:] == a).all(), (f["c"][:] == c).all(),
                  all(f[f"g/{i}"][()] == i for i in range(300)))
    """)
    assert found == "True True True"
    (told,) = layer.statistics
    assert told["written_bytes"] > 24_000_000
    assert told["written_behind_bytes"] > 24_000_000
    assert told["writes_behind"] < told["writes"] / 2, "writes are merged"


def test_flushed_data_survives_a_kill(layer: Async) -> None:
    done = layer.start(
        """
        import os, signal, h5py, numpy as np
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", shape=(40, 100_000), dtype="f8", fillvalue=-1)
        for i in range(40):
            d[i] = i
            f[f"a/{i}"] = np.full(20_000, i)
        f.flush()
        d[:] = 99
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        "flush_interval=0;",
    )
    assert done.status == -signal.SIGKILL
    found = layer.plain("""
        with h5py.File("x.h5") as f:
            d = f["d"][:]
            good = ((d == np.arange(40.)[:, None]) | (d == 99)).all()
            print(good, all((f[f"a/{i}"][:] == i).all() for i in range(40)))
    """)
    assert found == "True True"


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_multiprocessing(layer: Async, start: str) -> None:
    (layer.folder / "program.py").write_text(
        textwrap.dedent(f"""
        import h5py, numpy as np, multiprocessing
        def read(i):
            with h5py.File("x.h5") as g:
                own = g["d"][i].sum()
            with h5py.File(f"child{{i}}.h5", "w") as h:
                h["n"] = np.full(100_000, i)
            return own
        if __name__ == "__main__":
            context = multiprocessing.get_context("{start}")
            keep = h5py.File("other.h5", "w")
            keep["k"] = np.arange(1_000_000)
            with h5py.File("x.h5", "w") as f:
                f["d"] = np.arange(4_000_000).reshape(4, -1)
            with context.Pool(2) as pool:
                sums = pool.map(read, range(4))
            assert sums == [int(row.sum()) for row in np.arange(4_000_000).reshape(4, -1)], sums
            keep["k"][7] = 70
            keep["l"] = 5
            keep.close()
        """)
    )
    layer.python("""
        import subprocess, sys
        sys.exit(subprocess.call([sys.executable, "program.py"]))
    """)
    found = layer.plain("""
        print([h5py.File(f"child{i}.h5")["n"][:].sum() for i in range(4)] ==
              [i * 100_000 for i in range(4)])
        with h5py.File("other.h5") as f:
            k = f["k"][:]; print(k[7], k.sum() - 63 == np.arange(1_000_000).sum(), f["l"][()])
    """)
    assert found == "True\n70 True 5"


def test_fork_with_data_staged(layer: Async) -> None:
    """The child neither loses nor repeats what its parent had staged."""
    layer.python("""
        import os, h5py, numpy as np
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", data=np.zeros(3_000_000))
        d[:] = 1
        pid = os.fork()
        if pid == 0:
            assert (d[:] == 1).all()
            os._exit(0)
        d[:10] = 2
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        f.close()
    """)
    assert layer.plain('d = h5py.File("x.h5")["d"][:]; print(d.sum())') == "3000010.0"


def test_exit_without_close(layer: Async) -> None:
    done = layer.python("""
        import h5py, numpy as np
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", data=np.arange(4_000_000))
        e = f.create_dataset("e", data=np.arange(100_000), chunks=(1000,))
        keep = [f, d, e, f.create_group("g"), d.attrs]
    """)
    assert not done.err
    assert layer.plain('f = h5py.File("x.h5"); print(f["d"][:].sum(), f["e"][:].sum())') == (
        "7999998000000 4999950000"
    )


def test_little_memory(layer: Async) -> None:
    """A million tiny writes, all over a file, in a budget of 1 MiB."""
    layer.python(
        """
        import resource, h5py, numpy as np
        rng = np.random.default_rng(1)
        def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        f = h5py.File("x.h5", "w")
        # Elements of a column: HDF5 hands them to the driver one by one.
        d = f.create_dataset("d", shape=(1_000_000, 32), dtype="i8")
        d[0, 0] = 0
        column = np.arange(1_000_000)
        before = peak()
        space = d.id.get_space()
        memory = h5py.h5s.create_simple((100_000,))
        small = h5py.h5p.create(h5py.h5p.DATASET_XFER)
        for i in range(10):
            space.select_hyperslab((i * 100_000, 5), (100_000, 1))
            d.id.write(memory, space, column[i * 100_000:(i + 1) * 100_000])
        grown = peak() - before
        f.close()
        assert grown < 8 << 10, f"{grown} KiB"
        """,
        "budget=1MiB;",
    )
    found = layer.plain("""
        d = h5py.File("x.h5")["d"]
        print((d[:, 5] == np.arange(1_000_000)).all(), int(d[:, 4].sum()), int(d[:, 6].sum()))
    """)
    assert found == "True 0 0"
    (told,) = layer.statistics
    assert told["writes_behind"] > 1000, "memory was reused"


FULL = """
    import errno, h5py, numpy as np, resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", shape=(6_000_000,), dtype="u1")
    f.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    d[:] = 3
"""


@pytest.mark.parametrize("call", ["flush", "close"])
def test_a_late_error_is_told(layer: Async, call: str) -> None:
    """A file that may not grow: H5Fflush and H5Fclose fail and say why."""
    done = layer.start(textwrap.dedent(FULL) + textwrap.dedent(f"""
        try:
            f.{call}()
        except Exception as error:
            print("told:", error)
        else:
            print("success")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        if "{call}" == "flush":
            f.flush()  # tried again
            f.close()
    """), "budget=1GiB;")  # fmt: skip
    assert done.status == 0, done.text
    assert "told:" in done.text, done.text
    if call == "flush":
        assert layer.plain('print(h5py.File("x.h5")["d"][:].sum())') == "18000000"
    else:
        assert "could not be written" in layer.log


def test_a_failed_close_closes_the_file(layer: Async) -> None:
    """A chunk that cannot be stored is told by H5Fclose, which lets go of descriptor and lock."""
    done = layer.start(
        """
        import os, h5py, numpy as np, resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", (6_000_000,), "u1", chunks=(2_000_000,), compression=1)
        f.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, resource.RLIM_INFINITY))
        d[:] = np.random.default_rng(1).integers(0, 255, d.shape, "u1")
        try:
            f.close()
        except Exception as error:
            print("told:", error)
        folder = "/proc/self/fd"
        print([name for name in os.listdir(folder)
               if os.path.realpath(f"{folder}/{name}").endswith("x.h5")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        with h5py.File("x.h5", "w") as again:
            again["a"] = 5
        f.close()
        """
    )
    assert done.status == 0, done.text
    assert "told:" in done.text, done.text
    assert "a compressed chunk cannot be stored" in done.text
    assert "\n[]\n" in done.out.decode(), "a descriptor is left"
    assert layer.plain('print(h5py.File("x.h5")["a"][()])') == "5"


def test_two_handles_to_one_file(layer: Async) -> None:
    layer.python("""
        import h5py, numpy as np
        f = h5py.File("x.h5", "w")
        f["a"] = np.arange(1000_000)
        g = h5py.File("x.h5", "r+")
        g["b"] = np.arange(10)
        assert g["a"][-1] == 999_999 and f["b"][-1] == 9
        with h5py.File("y.h5", "w") as h:
            h["to"] = h5py.ExternalLink("x.h5", "/a")
            h["to"][5] = 50
            assert f["a"][5] == 50
        f.close()
        g["c"] = 1
        g.close()
    """)
    assert layer.plain('f = h5py.File("x.h5"); print(f["a"][5], f["b"][:].sum(), f["c"][()])') == (
        "50 45 1"
    )


def test_readers_beside_a_swmr_writer(layer: Async) -> None:
    """They see what was flushed at once, and nothing is staged any more."""
    reader = textwrap.dedent("""
        import sys, h5py
        with h5py.File("x.h5", "r", swmr=True, libver="latest") as f:
            for line in sys.stdin:
                f["d"].refresh()
                print(f["d"].shape[0], f["d"][:].sum(), flush=True)
    """)
    (layer.folder / "reader.py").write_text(reader)
    layer.python(f"""
        import subprocess, sys, h5py, numpy as np
        f = h5py.File("x.h5", "w", libver="latest")
        d = f.create_dataset("d", shape=(0,), maxshape=(None,), chunks=(1000,), dtype="i8")
        d.resize((10,)); d[:] = 1
        f.swmr_mode = True
        reader = subprocess.Popen([sys.executable, "reader.py"], env={CLEAN!r}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for i in range(1, 6):
            d.resize((i * 5000,)); d[:] = i
            d.flush()
            reader.stdin.write("x\\n"); reader.stdin.flush()
            seen = reader.stdout.readline().split()
            assert seen == [str(i * 5000), str(i * i * 5000)], (i, seen)
        reader.stdin.close()
        assert reader.wait() == 0
        f.close()
    """)
    assert layer.plain('print(h5py.File("x.h5")["d"][:].sum())') == "125000"
    (told,) = layer.statistics
    assert told["written_bytes"] < 100_000, "only what was written before the switch"


def test_the_descriptor_sees_everything(layer: Async) -> None:
    layer.python("""
        import os, h5py, numpy as np
        f = h5py.File("x.h5", "w")
        f["a"] = np.arange(500_000)
        offset = f["a"].id.get_offset()
        fd = f.id.get_vfd_handle()
        assert (np.frombuffer(os.pread(fd, 4_000_000, offset), "i8") == np.arange(500_000)).all()
        f["a"][3] = 30
        f.flush()
        assert os.pread(fd, 1, offset + 24) == b"\\x1e"
        os.pwrite(fd, b"\\x1f", offset + 32)
        assert f["a"][4] == 31
        f.close()
    """)
    assert layer.plain('print(h5py.File("x.h5")["a"][4])') == "31"


SIZES = """
    import os, h5py, numpy as np
    sizes = []
    def note(f):
        f.flush(); sizes.append((os.path.getsize("x.h5"), f.id.get_filesize()))
    f = h5py.File("x.h5", "w", userblock_size=512)
    for i in range(20):
        f[f"d{i}"] = np.full(50_000 + i, i)
        note(f)
    for i in reversed(range(5, 20)):
        del f[f"d{i}"]
        note(f)
    for i in range(3):  # ends where sec2 last knew the end to be
        f["passing"] = np.arange(300_000 * i)
        del f["passing"]
        note(f)
    f["e"] = np.arange(70_000)
    note(f)
    for i in range(5): del f[f"d{i}"]
    del f["e"]
    f.close()
    sizes.append(os.path.getsize("x.h5"))
    with h5py.File("x.h5", "r+") as f:
        f["again"] = np.arange(1000)
        note(f)
        del f["again"]
    sizes.append(os.path.getsize("x.h5"))
    print(sizes)
"""


def test_sizes_are_those_of_native(layer: Async) -> None:
    """Growth and shrinking, at every flush."""
    ours = layer.python(SIZES).out.decode().strip()
    assert ours == layer.plain(textwrap.dedent(SIZES))


def test_a_killed_writer_ends(layer: Async) -> None:
    """A process that dies leaves no thread behind that keeps the file."""
    program = 'import h5py, time; f = h5py.File("x.h5", "w"); f["a"] = [1.0] * 1000; time.sleep(60)'
    child = subprocess.Popen([sys.executable, "-c", program], env=layer.env(""), cwd=layer.folder)
    while not (layer.folder / "x.h5").exists():
        assert child.poll() is None
    child.terminate()
    assert child.wait(20) == -signal.SIGTERM


def test_without_threads(layer: Async) -> None:
    """Where no thread can be started the program writes by itself."""
    layer.folder.chmod(0o777)
    layer.python(
        """
        import os, resource, threading, h5py, numpy as np
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
            assert d[4] == 4 and d[5] == 1
        """,
        "budget=4MiB;flush_interval=0;",
    )
    found = layer.plain("""
        a = np.arange(4_000_000); a[5:3_000_000] = 1
        print((h5py.File("x.h5")["d"][:] == a).all())
    """)
    assert found == "True"
