"""Compressed chunks of files over MPI: what a rank reads on its own of one that is not written."""

from __future__ import annotations

import pytest
from async_layer import PLUGINS, Async
from harness.prefix import Hdf5
from harness.run import Result, run
from harness.stack import NATIVE
from parallel.together import built, env_of

LAYER = "headrace_async {options}under_vol=0;under_info={{}}"
CHECK = """
with h5py.File("x.h5") as file:
    rows = {ranks} * 64
    data = 3 * 1000003 + np.arange(rows * 500, dtype="i4").reshape(rows, 500)
    assert np.array_equal(file["d"][:rows], data)
    assert (file["d"][rows:] == -7).all() and file["d"].shape == (rows + 64, 500)
print("checked")
"""
DAMAGE = """
with h5py.File("x.h5") as file:
    at = file["d"].id.get_chunk_info_by_coord((64, 0)).byte_offset
with open("x.h5", "r+b") as file:
    file.seek(at + 40)
    file.write(b"nonsense")
print("damaged")
"""


def start(layer: Async, hdf5: Hdf5, connector: str, ranks: int, *more: str) -> Result:
    env = env_of(connector, PLUGINS, layer.folder / "report")
    program = built(f"tests/async/mpi_filters_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", str(ranks), str(program), "x.h5", *more]
    done = run(command, env=env, cwd=layer.folder, limit=120)
    assert done.status == 0, done.text
    assert done.out.decode().endswith("good\n")
    return done


def decoded(layer: Async) -> list[int]:
    """Chunks, by each rank."""
    loads = [event for event in layer.report if event["event"] == "load"]
    assert any(event["name"] == "headrace_async" and event["seat"] == "vol" for event in loads)
    told = [event for event in layer.report if event["event"] == "statistics"]
    return [event["values"].get("chunks_decoded", 0) for event in told if event["seat"] == "vol"]


@pytest.mark.parametrize("options", ["seat=both;", "seat=vol;threads=1;"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_read_what_ranks_wrote(layer: Async, hdf5: Hdf5, options: str, ranks: int) -> None:
    native = start(layer, hdf5, NATIVE, ranks)
    done = start(layer, hdf5, LAYER.format(options=options), ranks)
    assert done.out == native.out, "what HDF5 tells of reads, made together or not"
    assert layer.plain(CHECK.format(ranks=ranks)) == "checked"
    # While the file is only read: all, and one rank's part twice; columns of two chunks by rank 0
    # twice; by others a part of eight chunks, four of which they find in the cache later.
    assert decoded(layer) == [16 * ranks + 2 * 16 + 4] * ranks


def test_damaged_chunks_are_told(layer: Async, hdf5: Hdf5) -> None:
    start(layer, hdf5, LAYER.format(options="seat=both;"), 2)
    assert layer.plain(DAMAGE) == "damaged"
    start(layer, hdf5, LAYER.format(options="seat=both;"), 2, "damaged")
    start(layer, hdf5, NATIVE, 2, "damaged")


def test_filters_may_stay_hdf5s(layer: Async, hdf5: Hdf5) -> None:
    start(layer, hdf5, LAYER.format(options="seat=both;filters=false;"), 2)
    assert sum(decoded(layer)) == 0
