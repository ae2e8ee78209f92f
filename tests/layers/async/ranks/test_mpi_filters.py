"""Compressed chunks of files over MPI: what a rank reads on its own of one that is not written."""

from __future__ import annotations

from functools import partial

import pytest
from harness import ranks as of_ranks
from harness.compressed_by_ranks import check, damage_a_chunk
from harness.layer import NATIVE_BELOW, Layer
from harness.prefix import Hdf5
from harness.run import Result
from harness.stack import NATIVE

BOTH = "seat=both;"


def succeed(layer: Layer, hdf5: Hdf5, options: str | None, ranks: int, *more: str) -> Result:
    connector = f"headrace_async {options}{NATIVE_BELOW}" if options else NATIVE
    done = of_ranks.start(layer, hdf5, ranks, "mpi_filters", "x.h5", *more, connector=connector)
    assert done.status == 0, done.text
    assert done.out.decode().endswith("good\n")
    return done


def decoded(layer: Layer) -> list[int]:
    """Chunks, by each rank."""
    told = [event for event in layer.report if event["event"] == "statistics"]
    return [event["values"].get("chunks_decoded", 0) for event in told if event["seat"] == "vol"]


@pytest.mark.parametrize("options", [BOTH, "seat=vol;threads=1;"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_read_what_ranks_wrote(layer: Layer, hdf5: Hdf5, options: str, ranks: int) -> None:
    native = succeed(layer, hdf5, None, ranks)
    done = succeed(layer, hdf5, options, ranks)
    assert done.out == native.out, "what HDF5 tells of reads, made together or not"
    assert layer.plain(partial(check, ranks)) == "checked"
    # While the file is only read: all, and one rank's part twice; columns of two chunks by rank 0
    # twice; by others a part of eight chunks, four of which they find in the cache later.
    assert decoded(layer) == [16 * ranks + 2 * 16 + 4] * ranks


def test_damaged_chunks_are_told(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, BOTH, 2)
    assert layer.plain(damage_a_chunk) == "damaged"
    succeed(layer, hdf5, BOTH, 2, "damaged")
    succeed(layer, hdf5, None, 2, "damaged")


def test_filters_may_stay_hdf5s(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, BOTH + "filters=false;", 2)
    assert sum(decoded(layer)) == 0
