"""Ranks that open a file together: every piece is counted, and collective calls are known."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.ranks import launch
from harness.run import run
from layers.model.conftest import env_of

if TYPE_CHECKING:
    from pathlib import Path

    from harness.prefix import Hdf5
    from layers.model.conftest import Model

RECORD = "summary=summary;ledger=ledgers"
ROWS, COLUMNS = 100, 64
BYTES = ROWS * COLUMNS * 8


def ranks(hdf5: Hdf5, folder: Path, settings: str | None, name: str, *arguments: str) -> None:
    program = built(f"tests/layers/model/model_ranks_{hdf5.mpi}")
    command = [*launch(hdf5, 2), program, name, *arguments]
    done = run(command, env=env_of(settings, folder), cwd=folder)
    assert done.status == 0, done.text


# Selections reach the driver whole, or as a call a row, or as MPI datatypes.
@pytest.mark.parametrize("how", [[], ["without-selections"]], ids=["selections", "without"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("mode", ["collective", "independent"])
def test_each_rank_counts_its_bytes(
    model: Model, hdf5: Hdf5, mode: str, layout: str, how: list[str]
) -> None:
    ranks(hdf5, model.folder, None, "native.h5", mode, layout, *how)
    ranks(hdf5, model.folder, RECORD, "layer.h5", mode, layout, *how)
    with (
        h5py.File(model.folder / "native.h5") as native,
        h5py.File(model.folder / "layer.h5") as layer,
    ):
        assert np.array_equal(native["x"][...], layer["x"][...])
    assert {(each["rank"], each["ranks"]) for each in model.summaries} == {(0, 2), (1, 2)}
    whole = layout == "rows" or (mode == "collective" and how)
    for each in model.summaries:
        for kind in (each["reads"], each["writes"]):
            assert kind["bytes"] - kind["metadata_bytes"] == BYTES
            requests = kind["requests"] - kind["metadata_requests"]
            assert requests == (1 if whole else ROWS)
    assert model.log == ""


@pytest.mark.parametrize("how", [[], ["without-selections"]], ids=["selections", "without"])
def test_collective_calls_are_played_as_one(model: Model, hdf5: Hdf5, how: list[str]) -> None:
    ranks(hdf5, model.folder, RECORD, "layer.h5", "collective", "columns", *how)
    many = ["--ranks", "2,200", "--stripe-size", "4096"]
    merged = model.replay(*model.ledgers, *many)["results"]
    apart = model.replay(*model.ledgers, *many, "--independent")["results"]
    assert merged[1]["bytes"] >= 200 * 2 * BYTES
    assert merged[1]["bytes"] == pytest.approx(apart[1]["bytes"], rel=0.02)
    if not how:
        assert merged[1]["revocations"] < apart[1]["revocations"]
        assert merged[1]["seconds"] < apart[1]["seconds"] / 10


@pytest.mark.parametrize("mode", ["collective", "independent"])
def test_ranks_are_delayed(model: Model, hdf5: Hdf5, mode: str) -> None:
    """Each row, written and read, is a request to the one server that the ranks share."""
    settings = f"mode=delay;preset=none;servers=1;latency=5ms;shared=queues;{RECORD}"
    begin = time.monotonic()
    ranks(hdf5, model.folder, settings, "layer.h5", mode, "columns")
    assert time.monotonic() - begin >= 2 * 2 * ROWS * 0.005
    assert model.log == ""
