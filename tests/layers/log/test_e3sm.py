"""The kernel e3sm under the layer: two readers without any plug-in find what native HDF5 wrote."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.prefix import ROOT
from harness.run import run
from harness.stack import CLEAN
from kernels.bench_tool import SERIAL, Bench
from layers.log.later.background import REAL, wait

DATA = ROOT.parent / "shared/data/e3sm"
HEADRACE = Path(sys.executable).with_name("headrace")
H5DUMP = Path("/usr/bin/h5dump")  # 1.10.8, which knows nothing of connectors
CASES = [f"{which}-{calls}-independent" for which in "fg" for calls in ("boxes", "canonical")]
MARKER = "_headrace_log"  # what a file has in its root group as long as its log waits
VARIABLES = {"f": 414, "g": 52}


@dataclass(frozen=True)
class Mode:
    options: str
    ranks: int = 0  # a serial run, without MPI
    waits: bool = False  # the data are in order only after `headrace replay`
    behind: bool = False  # or what the layer starts with canonicalise=background


MODES = {
    "close": Mode("canonicalise=close;"),
    "later": Mode("canonicalise=later;", waits=True),
    "background": Mode("canonicalise=later;", waits=True, behind=True),
    "ranks later": Mode("mpi_logs=rank;canonicalise=later;", waits=True, ranks=2),
    "ranks close": Mode("mpi_logs=rank;canonicalise=close;", ranks=2),
    "nodes later": Mode("mpi_logs=node;canonicalise=later;", waits=True, ranks=2),
}


@dataclass(frozen=True)
class Native:
    file: Path
    dump: str


def write(bench: Bench, case: str) -> Path:
    words = ("e3sm", "--data", DATA, "--case", case[0], "--only", case, "--keep")
    (sample,) = bench.samples(*words)
    assert sample["parameters"]["logical_ranks"] == 16
    return bench.kept("e3sm", case) / "data.h5"


def dump(file: Path) -> str:
    """All that h5dump prints of a file, to the last bit of its numbers; as a digest, being long."""
    command = [str(H5DUMP), "-y", "-w", "0", "-m", "%a", file.name]
    done = run(command, env=CLEAN, cwd=file.parent, limit=120)
    assert done.status == 0, done.text
    return hashlib.sha256(done.out).hexdigest()


def compare(file: Path, reference: Path, env: dict[str, str], *more: str) -> dict[str, Any]:
    """What h5py sees of the difference, byte for byte, and whether it ran under Headrace.

    `more`: attributes that only the file's root group has.
    """
    command = [sys.executable, "-m", "bench.log.plain", str(file), str(reference), *more]
    done = run(command, env=env, cwd=ROOT, limit=120)
    assert done.status == 0, done.text
    told: dict[str, Any] = json.loads(done.out)
    return told


def put_in_order(layer: Layer, file: Path, behind: bool) -> None:
    """By the command; or as the layer starts it, now that the kernel has moved its file."""
    command: list[str | Path] = [HEADRACE, "replay", file]
    if behind:
        (log,) = file.with_name(f"{file.name}.headrace").glob("*.log")
        library = SERIAL.prefix / "lib/libhdf5.so"
        start = 'exec 3<"$4"; exec "$@" false'
        command = ["sh", "-c", start, "sh", REAL, library, file, log]
    done = run(command, env=CLEAN, cwd=file.parent, limit=60)
    assert done.status == 0, done.text
    if behind:
        wait(layer, str(file.relative_to(layer.folder)))


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Native]:
    @functools.cache  # for all ways of calling HDF5, and for all modes
    def native(which: str) -> Native:
        folder = tmp_path_factory.mktemp(which)
        file = write(Bench(folder, SERIAL), f"{which}-canonical-independent")
        return Native(file, dump(file))

    return native


@pytest.mark.share(1)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", MODES)
def test_all_is_as_native_hdf5_writes_it(
    layer: Layer, native: Callable[[str], Native], mode: str, case: str
) -> None:
    expected, how = native(case[0]), MODES[mode]
    bench = Bench(layer.folder, SERIAL, how.ranks, layer.env(how.options))
    file = write(bench, case)
    assert {load["name"] for load in layer.loads} == {"headrace_log"}
    assert len({load["pid"] for load in layer.loads}) == max(1, how.ranks)
    assert layer.counted("writes_logged") >= VARIABLES[case[0]] // 2
    if how.waits:
        waiting = compare(file, expected.file, CLEAN, MARKER)
        assert "differs" in waiting["fault"], "nothing waits in the log"
        assert dump(file) != expected.dump
        under = layer.env(how.options)
        assert compare(file, expected.file, under, MARKER) == {"fault": "", "headrace": True}
        put_in_order(layer, file, how.behind)
    assert not list(layer.folder.rglob("*.headrace")), "no log is left"
    assert compare(file, expected.file, CLEAN) == {"fault": "", "headrace": False}
    assert dump(file) == expected.dump


def change_a_bit(name: str) -> None:
    d = h5py.File(name, "r+")["ANRAIN"]
    d[0, 71, 865] = np.nextafter(d[0, 71, 865], np.float32(9))


def test_one_wrong_bit_is_found(layer: Layer, native: Callable[[str], Native]) -> None:
    """By both readers."""
    expected = native("f")
    file = layer.folder / expected.file.name
    file.write_bytes(expected.file.read_bytes())
    layer.plain(partial(change_a_bit, file.name))
    assert compare(file, expected.file, CLEAN)["fault"] == "ANRAIN: element 62351 differs"
    assert dump(file) != expected.dump
