"""Ledgers out of a trace are those that the layer `model` has written of the same run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.build import PLUGINS, built
from harness.layer import NATIVE_BELOW
from harness.prefix import Hdf5
from harness.ranks import env_of, launch
from harness.run import Command, run
from harness.stack import CLEAN
from launched import HEADRACE, Launcher
from layers.trace.conftest import Traced
from numpy.typing import NDArray

import headrace.trace
from headrace.errors import FileError
from headrace.trace.views.export import model
from headrace.trace.views.export.model import HEADER, RECORD

BELOW = f"under_vol=7202;under_info={{ledger=ledgers;{NATIVE_BELOW}}}"
Ledger = tuple[tuple[str, str, int, int, int], NDArray[np.void]]


def ledger(path: Path) -> Ledger:
    """Who made the requests of what, and the records."""
    data = path.read_bytes()
    header = np.frombuffer(data, HEADER, 1)[0]
    name = HEADER.itemsize + int(header["name"])
    host = name + int(header["host"])
    assert (header["magic"], header["version"]) == (b"HRLEDGER", 1)
    records = np.frombuffer(data, RECORD, offset=host)
    assert len(records) == header["records"]
    numbers = (int(header[key]) for key in ("rank", "ranks", "pid"))
    texts = data[HEADER.itemsize : name].decode(), data[name:host].decode()
    return (*texts, *numbers), records  # type: ignore[return-value]


def ledgers(folder: Path) -> list[Ledger]:
    """In the order of their files' opening, as the numbers in their names are."""
    found = sorted(
        folder.glob("*.ledger"), key=lambda each: [int(n) for n in each.name.split(".")[-3:-1]]
    )
    return [ledger(each) for each in found]


def assert_same(exported: Path, written: Path) -> None:
    """All but times, which are those of two clocks of one call."""
    found, expected = ledgers(exported), ledgers(written)
    assert len(found) == len(expected) > 0
    for (who, records), (also, others) in zip(found, expected, strict=True):
        assert who == also
        for name in RECORD.names or ():
            if name not in ("begin", "duration"):
                np.testing.assert_array_equal(records[name], others[name], name)
        # The outer of the two seats waits for the inner one.
        assert ((records["duration"] == 0) == (others["duration"] == 0)).all()
        assert (records["duration"] >= others["duration"]).all()


def write_and_read() -> None:
    for name, compression in (("a.h5", None), ("b.h5", "gzip")):
        with h5py.File(name, "w") as f:
            d = f.create_dataset("x", (100, 100), "f8", chunks=(10, 100), compression=compression)
            for i in range(100):
                d[i] = np.arange(100)
            f.flush()
            f["texts"] = np.array(["a", "bc"] * 20, object)
        with h5py.File(name) as f:
            f["x"][::7, 3:5]


# Below async the seat is beneath the threads that work beside the program.
@pytest.mark.parametrize("workers", [False, True])
def test_of_a_serial_program(layer: Traced, workers: bool) -> None:
    seat = f"under_vol=7210;under_info={{output=traced;{BELOW}}}"
    below = f"under_vol=7206;under_info={{{seat}}}" if workers else BELOW
    layer = Traced(layer.folder, below=below)
    layer.python(write_and_read)
    model.write(layer.read(), layer.folder / "exported")
    assert_same(layer.folder / "exported", layer.folder / "ledgers")


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
@pytest.mark.parametrize("mode", ["collective", "independent"])
@pytest.mark.parametrize("how", [[], ["without-selections"]], ids=["selections", "without"])
def test_of_ranks(hdf5: Hdf5, tmp_path: Path, mode: str, how: list[str]) -> None:
    program = built(f"tests/layers/model/model_ranks_{hdf5.mpi}")
    command: Command = [*launch(hdf5, 2), program, "x.h5", mode, "columns", *how]
    done = run(
        command,
        env=env_of(f"headrace_trace output=traced;{BELOW}", PLUGINS, tmp_path / "report"),
        cwd=tmp_path,
        limit=120,
    )
    assert done.status == 0, done.text
    trace = headrace.trace.open(tmp_path / "traced")
    assert [each.rank for each in trace.processes] == [0, 1]
    model.write(trace, tmp_path / "exported")
    assert_same(tmp_path / "exported", tmp_path / "ledgers")


@pytest.fixture
def replay(tmp_path: Path) -> Callable[[Path], list[dict[str, float]]]:
    def replay(folder: Path) -> list[dict[str, float]]:
        wanted = ["--preset", "lustre-48", "--ranks", "1,64", "--json", "replay.json"]
        ledgers = sorted(folder.glob("*.ledger"))
        command: Command = [built("bin/headrace-model"), "replay", *ledgers, *wanted]
        done = run(command, env=CLEAN, cwd=tmp_path, limit=60)
        assert done.status == 0, done.text
        told = json.loads((tmp_path / "replay.json").read_text())
        results: list[dict[str, float]] = told["results"]
        return results

    return replay


def test_it_predicts_what_the_layers_own_predicts(
    layer: Traced, replay: Callable[[Path], list[dict[str, float]]]
) -> None:
    layer = Traced(layer.folder, below=BELOW)
    layer.python(write_and_read)
    told = Launcher(layer.folder)(HEADRACE, "trace", "export", "--model", "traced")
    assert (told.status, told.out.decode().strip()) == (0, "traced.ledgers"), told.err
    found, expected = (replay(layer.folder / name) for name in ("traced.ledgers", "ledgers"))
    for one, other in zip(found, expected, strict=True):
        assert one["bytes"] == other["bytes"] > 0
        assert one["seconds"] == pytest.approx(other["seconds"], rel=0.05)


def test_sums_are_refused(layer: Traced) -> None:
    layer.python(write_and_read, "output=traced;level=profile;")
    with pytest.raises(FileError, match="level=profile"):
        model.write(layer.read(), layer.folder / "exported")
