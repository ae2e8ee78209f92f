"""Runs programs over MPI whose logs outlive them, and looks at what they leave."""

from __future__ import annotations

from pathlib import Path

from harness.prefix import Hdf5
from harness.run import Result, run
from log_layer import Log
from parallel.together import built, env_of

LATER = "headrace_log canonicalise=later;mpi_logs=rank;under_vol=0;under_info={}"
NONE = "headrace_log under_vol=0;under_info={}"
FILES = ("random-0.h5", "random-1.h5", "random-2.h5")

CHECK = """
for name in names:
    with h5py.File(name) as file:
        for dataset in "contiguous", "chunked", "deflated", "doubles":
            expected = np.fromfile(f"{name}.{dataset}.expected", np.int32)
            found = file[dataset][()]
            assert np.array_equal(found, expected.reshape(found.shape)), (name, dataset)
            assert np.array_equal(found[5::3, 7:9], file[dataset][5::3, 7:9]), (name, dataset)
        print(name, "_headrace_log" in file.attrs)
"""
REPLAY = "for name in names: h5py.File(name, 'r+').close()\n"


def start(
    layer: Log,
    hdf5: Hdf5,
    ranks: int,
    program: str,
    *arguments: str,
    connector: str = LATER,
    **more: str,
) -> Result:
    log = {"HEADRACE_LOG_FILE": str(layer.folder / "log"), "HEADRACE_LOG_LEVEL": "info"}
    env = env_of(connector, layer.plugins, layer.folder / "report", **log, KEEPS_LOGS="1", **more)
    command = [*hdf5.mpiexec, "-n", str(ranks), str(built(f"tests/log/{program}_{hdf5.mpi}"))]
    done = run([*command, *arguments], env=env, cwd=layer.folder, limit=120)
    loads = {load["pid"] for load in layer.loads if load["name"] == "headrace_log"}
    assert len(loads) >= ranks, done.text
    return done


def succeed(
    layer: Log,
    hdf5: Hdf5,
    ranks: int,
    program: str,
    *arguments: str,
    connector: str = LATER,
    **more: str,
) -> None:
    done = start(layer, hdf5, ranks, program, *arguments, connector=connector, **more)
    assert done.status == 0, done.text
    assert done.out.decode().count('"rank"') == ranks, done.text


def logs_of(layer: Log, name: str) -> list[Path]:
    return sorted(layer.folder.glob(f"{name}.headrace/*.log"))


def require(layer: Log, names: tuple[str, ...], marked: bool) -> None:
    """Through the layer, or plainly where nothing waits any more."""
    text = f"names = {names!r}\n{CHECK}"
    expected = "\n".join(f"{name} {marked}" for name in names)
    if marked:
        assert layer.python(text).out.decode().strip() == expected
    else:
        assert layer.plain(text) == expected
