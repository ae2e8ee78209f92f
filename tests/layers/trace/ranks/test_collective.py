"""What HDF5 did of collective transfers, and why not all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from harness.prefix import Hdf5
from layers.trace.ranks.conftest import told_by

from headrace.trace.analysis import collective
from headrace.trace.views.report.page import render

SAID = re.compile(r"(.*): io (\d) .* global ([0-9a-f]+) ")


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
def test_rows_have_what_hdf5_says_in_transfer_lists(hdf5: Hdf5, tmp_path: Path) -> None:
    trace = told_by(hdf5, tmp_path, 2)
    told = [SAID.match(line) for line in (tmp_path / "told.0").read_text().splitlines()]
    first = trace.processes[0]
    assert first.rank == 0
    writes = first.calls["callback"] == list(first.callbacks).index("dataset_write")
    # A transfer of two datasets has two rows.
    _, rows = np.unique(first.calls["number"][writes], return_index=True)
    assert len(rows) == len(told) > 300
    seen = set()
    for row, said in zip(rows, told, strict=True):
        assert said is not None
        together = first.calls["collective"][writes][row]
        mode, cause = (
            first.calls[name][writes][row] for name in ("io_mode", "no_collective_cause")
        )
        if together:
            assert (mode, cause) == (int(said[2]), int(said[3], 16)), said[1]
            seen.add((int(mode), int(cause)))
        else:
            assert (mode, cause) == (0, 0)
    assert len(seen) > 2, "collective ones, and such as HDF5 has broken"
    broken = collective.broken(trace.seats)
    assert any("elements are converted" in each.why for each in broken)
    assert "elements are converted" in render(trace)


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
def test_sums_have_the_same_reasons(hdf5: Hdf5, tmp_path: Path) -> None:
    each_call, sums = tmp_path / "all", tmp_path / "sums"
    each_call.mkdir()
    sums.mkdir()
    told = collective.broken(told_by(hdf5, each_call, 2).seats)
    trace = told_by(hdf5, sums, 2, "level=profile;")
    assert sorted(map(str, collective.broken(trace.seats))) == sorted(map(str, told))
    assert len(told) > 2
    (seat, _) = trace.seats
    assert (seat.calls["count"] > 1).any()
    together = np.flatnonzero(seat.calls["collective"])
    assert np.isin(seat.owner, together).any(), "requests stay with their calls"
