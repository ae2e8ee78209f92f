"""What programs of several tests write."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np


def make_field() -> Any:
    """It compresses well, and has no two rows that are the same."""
    field = (np.add.outer(np.arange(600), np.arange(500)) // 9).astype("f4")
    field += np.random.default_rng(1).integers(0, 4, field.shape)
    return field


REST = {"chunks": (100, 500), "compression": 4}  # of frames: what create_dataset takes


def frame(i: int) -> Any:
    return (np.arange(200_000, dtype="f4") // 7 + i).reshape(400, 500)


def require_frames() -> None:
    """Those of d0 to d19 in x.h5."""
    with h5py.File("x.h5") as f:
        for i in range(20):
            assert (f[f"d{i}"][...] == frame(i)).all()
