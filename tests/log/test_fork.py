"""A child of fork() finds what was logged before, and has no part in its parent's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from log_layer import Log

WRITE = """
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 1000), "i4", chunks={chunks})
    d[:, ::2] = 7
"""


@pytest.mark.parametrize("options", ["", "canonicalise=later;"])
@pytest.mark.parametrize("chunks", [None, (10, 100)])
@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)", "f.close(); os._exit(0)"])
def test_a_child_sees_what_was_logged(
    layer: Log, chunks: tuple[int, int] | None, end: str, options: str
) -> None:
    layer.python(
        WRITE.format(chunks=chunks)
        + f"""
    pid = os.fork()
    if pid == 0:
        assert d[...].sum() == 7 * 50000
        {end}
    d[:, 1::2] = 9
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert d[...].sum() == 16 * 50000
    d[5, ::3] = 1
    f.flush()
    assert os.path.exists("x.h5.headrace") == bool({options!r})
    f.close()
    """,
        options,
    )
    layer.python("h5py.File('x.h5', 'r+').close()")
    assert layer.counted("writes_logged") >= 3
    expected = 16 * 50000 - 7 * 167 - 9 * 167 + 334
    assert layer.plain("with h5py.File('x.h5') as f: print(f['d'][...].sum())") == str(expected)


def test_both_go_on_with_logs_of_their_own(layer: Log) -> None:
    layer.python(
        WRITE.format(chunks=None)
        + """
    pid = os.fork()
    if pid == 0:
        with h5py.File("child.h5", "w") as g:
            e = g.create_dataset("e", (50, 50), "f8")
            for k in range(50):
                e[:, k] = k
            assert (e[3] == np.arange(50)).all()
            for k in range(50):
                e[:, k] = k + 1
        os._exit(0)
    for k in range(100):
        d[k, ::2] = k
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for k in range(100):
        d[k, 1::2] = k
    f.close()
    """
    )
    assert layer.counted("writes_logged") >= 201
    assert (
        layer.plain("""
        with h5py.File("x.h5") as f, h5py.File("child.h5") as g:
            assert (f["d"][...] == np.arange(100)[:, None]).all()
            assert (g["e"][...] == np.arange(50) + 1).all()
        """)
        == ""
    )


def test_a_child_that_nobody_was_told_of(layer: Log) -> None:
    """Functions that pthread_atfork() has registered are not called."""
    layer.python(
        WRITE.format(chunks=None)
        + """
    import ctypes
    fork = {"x86_64": (57,), "aarch64": (220, 17, 0, 0, 0, 0)}[os.uname().machine]
    pid = ctypes.CDLL(None).syscall(*fork)
    if pid == 0:
        for action in (lambda: d.write_direct(np.zeros((100, 500), "i4"), dest_sel=np.s_[:, 1::2]),
                       lambda: d[...], f.flush):
            try:
                action()
            except (OSError, RuntimeError) as error:
                assert "x.h5 are missing in this process" in str(error), error
            else:
                os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    d[:, 1::2] = 9
    f.close()
    """
    )
    assert layer.plain("with h5py.File('x.h5') as f: print(f['d'][...].sum())") == f"{16 * 50000}"


def test_a_child_of_another_thread_is_told_what_it_lost(layer: Log) -> None:
    """HDF5 may be at work in the thread that wrote, so the forking one leaves it alone."""
    layer.python(
        WRITE.format(chunks=None)
        + """
    import threading
    def fork():
        pid = os.fork()
        if pid == 0:
            for action in (lambda: d[...], f.flush):
                try:
                    action()
                except (OSError, RuntimeError) as error:
                    assert "x.h5 are missing in this process" in str(error), error
                else:
                    os._exit(1)
            with h5py.File("child.h5", "w") as g:
                g.create_dataset("e", (50, 50), "f8")[:, ::3] = 5
                assert g["e"][...].sum() == 5 * 17 * 50
            os._exit(0)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    statuses = []
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    assert statuses == [0], statuses
    d[:, 1::2] = 9
    f.close()
    """
    )
    assert layer.plain("with h5py.File('x.h5') as f: print(f['d'][...].sum())") == f"{16 * 50000}"
