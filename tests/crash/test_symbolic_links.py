"""Files opened by a symbolic link from another folder, under every layer.

HDF5 asks a driver that says it has a POSIX handle for its descriptor then, and looks for files
behind relative external links beside what the link leads to.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from harness.stack import NATIVE
from harness.stacked import Stacked

STACKS = (
    "null(seat=both)",
    "tune",
    "trace",
    "log",
    "fault",
    "async",
    "stripe",
    "tune,async,stripe",
)


def follow() -> None:
    Path("moved").mkdir()
    with h5py.File("moved/target.h5", "w") as f:
        f["x"] = 1
    with h5py.File("moved/main.h5", "w") as f:
        f["near"] = h5py.ExternalLink("target.h5", "/x")
    Path("sym.h5").symlink_to("moved/main.h5")
    Path("folder").symlink_to("moved")
    for name in ("sym.h5", "folder/main.h5", "moved/main.h5"):
        with h5py.File(name) as f:
            print(f["near"][()])
    with h5py.File("sym.h5", "r+") as f:
        f["near2"] = h5py.ExternalLink("target.h5", "/x")
        print(f["near2"][()])


@pytest.mark.parametrize("stack", [NATIVE, *STACKS])
def test_a_relative_external_link(stacked: Stacked, stack: str) -> None:
    done = stacked.start(follow, stack)
    assert done.status == 0, done.text
    assert done.out.decode().split() == ["1"] * 4
