"""One table of filters: its names in reports, and what it says of N-bit, against HDF5."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.build import ROOT

from headrace import filters

TABLE = (ROOT / "src/engine/codec/filters.def").read_text()
ROWS = re.findall(r'^HEADRACE_FILTER\((\w+), (\d+), "(\w+)", (true|false)\)$', TABLE, re.MULTILINE)


def test_reports_use_the_names_of_the_table() -> None:
    assert len(ROWS) == TABLE.count("\nHEADRACE_FILTER(") > 10
    assert filters.names == {int(number): name for _, number, name, _ in ROWS}


def test_numbers_are_those_of_hdf5() -> None:
    for name, number, _, _ in ROWS:
        if int(number) < h5py.h5z.FILTER_RESERVED:
            assert int(number) == getattr(h5py.h5z, f"FILTER_{name.upper()}")


@pytest.mark.parametrize("name", ["nbit", "deflate"])
def test_exact_is_what_gives_back_each_bit(tmp_path: Path, name: str) -> None:
    """N-bit drops those that the datatype does not use, without a conversion that would, too."""
    twelve = h5py.h5t.STD_U16LE.copy()
    twelve.set_precision(12)
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((10,))
    made.set_filter(getattr(h5py.h5z, f"FILTER_{name.upper()}"), 0, () if name == "nbit" else (4,))
    written = np.arange(100, dtype="u2") | 0xF000
    with h5py.File(tmp_path / "x.h5", "w") as file:
        space = h5py.h5s.create_simple(written.shape)
        dataset = h5py.h5d.create(file.id, b"d", twelve, space, made)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, written, mtype=twelve)
        del dataset
    read = np.zeros_like(written)
    with h5py.File(tmp_path / "x.h5") as file:
        file["d"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, read, mtype=twelve)
    exact = {name: exact for name, _, _, exact in ROWS}[name] == "true"
    assert bool((read == written).all()) == exact
    assert (read & 0xFFF == written & 0xFFF).all()
