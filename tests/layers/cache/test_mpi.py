"""Files over MPI: what a rank reads on its own comes from the cache; what all read does not."""

from __future__ import annotations

from functools import partial

import pytest
from harness import ranks as of_ranks
from harness.build import built
from harness.compressed_by_ranks import check, damage_a_chunk
from harness.layer import NATIVE_BELOW
from harness.prefix import Hdf5
from harness.run import Result
from harness.stack import NATIVE
from layers.cache.node import Cache

pytestmark = pytest.mark.sanitized

PROGRAM = "tests/layers/async/ranks/mpi_filters"
OURS = f"headrace_cache memory=64MiB;settle=0;{NATIVE_BELOW}"


def read(cache: Cache, hdf5: Hdf5, ranks: int, *more: str, connector: str = OURS) -> Result:
    done = of_ranks.start(
        cache, hdf5, ranks, str(built(f"{PROGRAM}_{hdf5.mpi}")), "x.h5", *more,
        connector=connector, HEADRACE_SHARED=str(cache.shared),
    )  # fmt: skip
    assert done.status == 0, done.text
    assert done.out.decode().endswith("good\n")
    return done


@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_share_what_any_of_them_decodes(cache: Cache, hdf5: Hdf5, ranks: int) -> None:
    native = read(cache, hdf5, ranks, connector=NATIVE)
    done = read(cache, hdf5, ranks)
    assert done.out == native.out, "what HDF5 tells of reads, made together or not"
    assert cache.plain(partial(check, ranks)) == "checked"
    assert 0 < cache.counted("chunks_cached") <= 16 * (ranks + 1)
    assert cache.counted("cache_hits") > 0
    assert cache.counted("left_for_collective") > 0


def test_damaged_chunks_are_told(cache: Cache, hdf5: Hdf5) -> None:
    read(cache, hdf5, 2)
    assert cache.plain(damage_a_chunk) == "damaged"
    read(cache, hdf5, 2, "damaged")
