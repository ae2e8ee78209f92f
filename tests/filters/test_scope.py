"""Chunks that wait for being stored stay what they are, whatever is done with other datasets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized


def act_on_others(act: str, f: h5py.File, g: h5py.File, b: h5py.Dataset) -> None:
    match act:
        case "flush by a dataset":
            h5py.h5f.flush(b.id, h5py.h5f.SCOPE_LOCAL)
        case "resize":
            b.resize((20,))
        case "write a chunk":
            b.id.write_direct_chunk((0,), np.ones(10, "i4").tobytes())
        case "ask for a chunk":
            b.id.get_chunk_info(0)
        case "ask for an offset":
            f["c"].id.get_offset()
        case "resize elsewhere":
            b.resize((20,))
            g.flush()
        case "delete":
            del f["c"]
        case "begin SWMR elsewhere":
            g.swmr_mode = True
        case "mount":
            h5py.h5f.mount(f.id, b"mounted", g.id)


ACTS = (
    "flush by a dataset",
    "resize",
    "resize elsewhere",
    "write a chunk",
    "ask for a chunk",
    "ask for an offset",
    "delete",
    "begin SWMR elsewhere",
    "mount",
)


def keep_while(act: str) -> None:
    f, g = h5py.File("x.h5", "w"), h5py.File("y.h5", "w", libver="latest")
    f.create_group("mounted")
    coded = f.create_dataset("coded", (60,), "i4", chunks=(20,), compression=4)
    place = g if "elsewhere" in act else f
    b = place.create_dataset("b", (10,), "i4", maxshape=(None,), chunks=(10,))
    b[...] = 1
    f.create_dataset("c", data=np.arange(5))
    coded[10:20] = 7
    act_on_others(act, f, g, b)
    assert (coded[8:22] == [0, 0, *[7] * 10, 0, 0]).all()
    coded[30:40] = 9
    f.flush()
    assert (coded[30:40] == 9).all()
    f.close()


def check() -> None:
    expected = np.zeros(60, "i4")
    expected[10:20], expected[30:40] = 7, 9
    assert (h5py.File("x.h5")["coded"][...] == expected).all()


@pytest.mark.parametrize("act", ACTS)
def test_what_is_done_with_others(filters: Layer, act: str) -> None:
    filters.python(partial(keep_while, act))
    assert filters.counted("chunks_encoded") > 0
    filters.plain(check)
