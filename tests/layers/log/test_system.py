"""What the layer asks of the system: synchronisation where it is wanted, and no /proc."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import pytest
from harness.corpus import compile_preload

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

LATER = "canonicalise=later;"


def write() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
    d[:, ::2] = 7
    f.flush()
    assert (d[:, ::2] == 7).all()
    d[:, 1::2] = 8
    f.close()


def read() -> None:
    with h5py.File("x.h5", "r+") as f:
        assert (f["d"][:, 1::2] == 8).all()


def read_all() -> None:
    with h5py.File("x.h5") as f:
        assert (f["d"][:, 1::2] == 8).all()
        assert (f["d"][:, ::2] == 7).all()


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What stands between a program and the system."""
    source = Path(__file__).with_name("system.c")
    return str(compile_preload(tmp_path_factory.mktemp("system"), source))


def trace(layer: Layer, system: str, options: str) -> list[str]:
    """What a program does to files, such as `write /folder/x.h5`; the same in a row once."""
    to = layer.folder / "trace"
    to.unlink(missing_ok=True)
    layer.python(write, options, LD_PRELOAD=system, SYSTEM_TRACE=str(to))
    calls = [line for line in to.read_text().splitlines() if f" {layer.folder}" in line]
    return [call for before, call in pairwise(["", *calls]) if call != before]


def test_what_is_cut_off_is_synchronised(layer: Layer, system: str) -> None:
    """Else a log whose data has been overwritten in the file since comes back with the power."""
    calls = trace(layer, system, LATER + "sync=true;")
    (log,) = layer.folder.glob("x.h5.headrace/*.log")
    cut = calls.index(f"cut {log}")
    assert calls[cut + 1] == f"sync {log}", calls
    before = calls[:cut][::-1]
    file = layer.folder / "x.h5"
    assert before.index(f"sync {file}") < before.index(f"write {file}"), calls


def test_nothing_is_synchronised_unasked(layer: Layer, system: str) -> None:
    calls = trace(layer, system, LATER)
    assert any(call.startswith("cut ") for call in calls), calls
    assert not [call for call in calls if call.startswith("sync ")], calls


@pytest.mark.parametrize("options", ["", LATER])
def test_there_is_no_proc(layer: Layer, system: str, options: str) -> None:
    layer.python(write, options, LD_PRELOAD=system, SYSTEM_DENIES="/proc/")
    layer.python(read, options, LD_PRELOAD=system, SYSTEM_DENIES="/proc/")
    layer.plain(read_all)
    assert layer.counted("writes_logged") > 0
