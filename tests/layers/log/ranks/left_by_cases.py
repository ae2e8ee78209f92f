"""What each case of mpi_cases.c must leave in x.h5, as h5py finds it without any plug-in."""

from __future__ import annotations

import h5py
import numpy as np


def converted() -> None:
    d = h5py.File("x.h5")["d"][...]
    assert (d[::100] == 3).all()
    assert (d == 2).sum() == 990


def anonymous() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:20] == 2).all()
    assert not d[20:].any()


def committed() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[...] == np.tile([1, 2], 50)).all()
    assert d.id.get_type().committed()


def woven() -> None:
    for name in "x.h5", "y.h5":
        chunks = h5py.File(name)["d"][()].reshape(16, -1)
        assert (chunks[[0, 1, 10]] == 2).all(), (name, chunks)
        assert (chunks > 0).sum() == 3 * 4096, name


def cut() -> None:
    d = h5py.File("x.h5")["d"][...]
    assert (d[:900] == 1).all()
    assert (d[900:920] == 2).all()
    assert (d[920:950] == 1).all()
    assert not d[950:].any()


def twice() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:20] == 2).all()
    assert not d[20:].any()


def linked() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:20] == 1).all()
    assert not d[20:].any()


def grown() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:20] == 7).all()
    assert d.shape == (200,)


def forked() -> None:
    d = h5py.File("x.h5")["d"][...]
    assert all((d[k:][:5] == 1 + k % 40 // 10).all() for k in (0, 10, 40, 50))
    assert (d > 0).sum() == 20


def full() -> None:
    assert h5py.File("x.h5")["compact"][()] == 5


def others() -> None:
    assert (h5py.File("x.h5")["d"][:20] == 8).all()


def long() -> None:
    d = h5py.File("x.h5")["d"][:]
    n = np.flatnonzero(d)
    assert (d[n] == n).all()
    assert len(n) > 250000
