"""Programs that mpiexec starts: each rank has the layer below it, and tells of itself in JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.build import PLUGINS, ROOT, built, sanitized
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.run import Result, run
from harness.stack import CLEAN, NATIVE

_WITH_PRELOAD = 'LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$0" exec "$@"'
_ON_RANK_1 = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export "$0"; exec "$@"'
ON_NODE = ROOT / "scripts/on_node.sh"
Connector = str | tuple[str, str]  # of all ranks, or of rank 0 and of rank 1


def env_of(connector: str, plugins: Path, report: Path, **more: str) -> dict[str, str]:
    """An environment with one connector, and nothing else to find in the plug-in path."""
    base = {**CLEAN, **more}
    if connector == NATIVE:
        return base
    stack = {"HDF5_PLUGIN_PATH": str(plugins), "HDF5_VOL_CONNECTOR": connector}
    return {**base, **stack, "HEADRACE_REPORT": str(report)}


def giving_way(hdf5: Hdf5) -> Path:
    """Preloaded by ranks that are to wait for others without keeping a core busy."""
    return built(f"tests/parallel/libgives_way_{hdf5.mpi}.so")


def launch(hdf5: Hdf5, ranks: int) -> list[str | Path]:
    """What starts a program as that many ranks: its words come next."""
    # Ranks that wait give way: there are more of them than cores, and other work beside them.
    yielding = ["--mca", "mpi_yield_when_idle", "1"] if hdf5.mpi == "openmpi" else []
    started = [*hdf5.mpiexec, *yielding, "-n", str(ranks)]
    return [*started, "sh", "-c", _WITH_PRELOAD, giving_way(hdf5)]


def told_by(done: Result) -> list[dict[str, Any]]:
    """The lines of JSON in what ranks print; two that print at the same moment may share a line."""
    lines = done.out.decode().replace("}{", "}\n{").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _program(layer: Layer, hdf5: Hdf5, name: str) -> Path:
    path = Path(name)
    if path.is_absolute():
        return path
    return built(f"tests/layers/{layer.name}/ranks/{name}_{hdf5.mpi}")


def _env(layer: Layer, connector: str, more: Mapping[str, str]) -> dict[str, str]:
    log = {"HEADRACE_LOG_FILE": str(layer.folder / "log")}
    return env_of(connector, layer.plugins, layer.folder / "report", **log, **more)


def start(
    layer: Layer,
    hdf5: Hdf5,
    ranks: int,
    program: str,
    *arguments: str,
    connector: Connector,
    **more: str,
) -> Result:
    """A C program of the layer's tests; each rank must have loaded the connector.

    ON_RANK_1 is a variable of that rank's environment alone: `NAME=value`. NODES is a folder of two
    nodes, on which the ranks are by turns (scripts/on_node.sh).
    """
    first, last = (connector, "") if isinstance(connector, str) else connector
    alone = f"HDF5_VOL_CONNECTOR={last}" if last else more.pop("ON_RANK_1", "")
    wrapper = ["bash", "-c", _ON_RANK_1, alone] if alone else []
    if nodes := more.pop("NODES", ""):
        wrapper += [str(ON_NODE), nodes]
        more["MPIR_CVAR_NUM_CLIQUES"] = "2"
    command = [*launch(hdf5, ranks), *wrapper, _program(layer, hdf5, program), *arguments]
    before = len(layer.loads)
    done = run(command, env=_env(layer, first, more), cwd=layer.folder, limit=120)
    if first != NATIVE:
        (name, *_) = first.split()
        loads = {load["pid"] for load in layer.loads[before:] if load["name"] == name}
        # What puts logs in order that outlive their program loads it, too.
        more_may = "KEEPS_LOGS" in more and len(loads) > ranks
        assert len(loads) == ranks or more_may, f"{len(loads)} loads: {done.text}"
    return done


def succeed(
    layer: Layer,
    hdf5: Hdf5,
    ranks: int,
    program: str,
    *arguments: str,
    connector: Connector,
    **more: str,
) -> list[dict[str, Any]]:
    """What each rank told, in their order."""
    done = start(layer, hdf5, ranks, program, *arguments, connector=connector, **more)
    assert done.status == 0, done.text
    told = sorted(told_by(done), key=lambda one: int(one["rank"]))
    assert [one["rank"] for one in told] == list(range(ranks)), done.text
    return told


def begin(
    layer: Layer, hdf5: Hdf5, ranks: int, program: str, *arguments: str, connector: str
) -> subprocess.Popen[bytes]:
    """Goes on beside the test, which is to end it."""
    command = [*launch(hdf5, ranks), _program(layer, hdf5, program), *arguments]
    env = sanitized(_env(layer, connector, {}))
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=env, cwd=layer.folder, stdout=quiet, stderr=quiet)


def run_kernel(
    hdf5: Hdf5, folder: Path, ranks: int, connector: str, case: str, *words: str
) -> None:
    """A case of headrace-bench, `words`: its kernel and sizes; the data of the last repeat stay."""
    common = [
        *("--mpi", "yes", "--keep", "--only", case, "--samples", str(folder / "samples")),
        *("--hdf5", str(hdf5.prefix / "lib/libhdf5.so"), "--dir", str(folder)),
    ]
    done = run(
        [*launch(hdf5, ranks), built("bin/headrace-bench"), *common, *words],
        env=env_of(connector, PLUGINS, folder / "report"),
        cwd=folder,
        limit=120,
    )
    assert done.status == 0, done.text
