"""What the driver counts, against the kernel's own counts and what is known of the program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.report import Report

if TYPE_CHECKING:
    from layers.model.conftest import Model

RECORD = "summary=summary;ledger=ledgers"


def write_rows(rows: int = 8, columns: int = 131072, name: str = "x.h5") -> None:
    with h5py.File(name, "w") as f:
        d = f.create_dataset("d", (rows, columns), "f8")
        for i in range(rows):
            d[i] = np.full(columns, i, "f8")


def write_chunks() -> None:
    data = np.arange(200000.0).reshape(200, 1000)
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=data, chunks=(20, 100), compression=1)
        for i in range(50):
            f[f"g/{i}"] = np.arange(100)
        f["s"] = ["a", "some text"] * 20


def read_all() -> None:
    with h5py.File("x.h5") as f:
        f.visititems(lambda _, o: o[...] if isinstance(o, h5py.Dataset) else None)


def test_a_known_program(model: Model) -> None:
    model.python(write_rows, RECORD)
    (summary,) = model.summaries
    writes = summary["writes"]
    assert writes["bytes"] - writes["metadata_bytes"] == 8 * 131072 * 8
    assert writes["requests"] - writes["metadata_requests"] == 8
    assert summary["sizes"]["write"]["<4MiB"] == 8
    assert sum(summary["sizes"]["write"].values()) == writes["requests"] == writes["calls"]
    assert writes["sequential"] >= 7
    assert writes["sequential"] + writes["seeks"] == writes["requests"]
    assert 0 < writes["seconds"] < 60
    assert summary["reads"]["requests"] == 0
    assert (summary["file"], summary["mode"], summary["rank"]) == ("x.h5", "count", -1)
    assert summary["truncates"] > 0


def io_of_the_process() -> dict[str, int]:
    lines = Path("/proc/self/io").read_text().splitlines()
    return {key: int(value) for key, value in (line.split(": ") for line in lines)}


def count_system_calls(program: str) -> None:
    """What it does, without what HDF5 does when it begins."""
    programs = {each.__name__: each for each in (write_rows, write_chunks, read_all)}
    h5py.File("warm.h5").close()
    cost = io_of_the_process()  # what reading the counts itself counts
    before = io_of_the_process()
    programs[program]()
    after = io_of_the_process()
    print(json.dumps({key: after[key] - 2 * before[key] + cost[key] for key in before}))


@pytest.mark.parametrize("program", [write_rows, write_chunks])
def test_the_kernel_counts_the_same(model: Model, program: Callable[[], None]) -> None:
    """The system calls of the same program without the layer."""
    model.plain(partial(write_rows, name="warm.h5"))
    for each, kind, calls, letters in (
        (program, "writes", "syscw", "wchar"),
        (read_all, "reads", "syscr", "rchar"),
    ):
        seen = json.loads(model.plain(partial(count_system_calls, each.__name__)))
        (model.folder / "summary").unlink(missing_ok=True)
        model.python(each, RECORD)
        (summary,) = model.summaries
        assert summary[kind]["requests"] == seen[calls]
        assert summary[kind]["bytes"] == seen[letters]


@pytest.mark.parametrize("mode", ["count", "predict", "delay"])
def test_files_are_the_same(model: Model, mode: str) -> None:
    model.plain(write_chunks)
    native = (model.folder / "x.h5").read_bytes()
    model.python(write_chunks, f"mode={mode};preset=local-nvme;{RECORD}")
    assert (model.folder / "x.h5").read_bytes() == native
    report = Report(model.folder / "report")
    assert report.calls("vfd")["write"] == model.summaries[0]["writes"]["calls"] > 0
    assert report.calls("vol")["dataset_write"] > 50
    assert model.log == ""


def test_a_ledger_holds_what_the_summary_counts(model: Model) -> None:
    model.python(write_chunks, f"mode=predict;{RECORD}")
    (summary,) = model.summaries
    (ledger,) = model.ledgers
    (result,) = model.replay(ledger)["results"]
    moved = [summary["reads"], summary["writes"]]
    assert result["requests"] == sum(each["requests"] for each in moved)
    assert result["bytes"] == sum(each["bytes"] for each in moved)
    assert result["seconds"] == pytest.approx(summary["predicted"])


def test_a_seat_above_counts_nothing(model: Model) -> None:
    model.python(write_rows, f"seat=vol;{RECORD}")
    assert not (model.folder / "summary").exists()
    assert model.ledgers == []


def fork_with_an_open_file() -> None:
    f = h5py.File("x.h5", "w")
    f["d"] = np.arange(1000)
    f.flush()
    if os.fork() == 0:
        f.close()
        sys.exit(0)
    os.wait()
    f.close()


def test_a_fork_leaves_the_telling_to_its_parent(model: Model) -> None:
    model.python(fork_with_an_open_file, RECORD)
    assert len(model.summaries) == len(model.ledgers) == 1


FAILURES = {
    "ledger=/proc/none": "ledger /proc/none/x.h5.",
    "ledger=taken": "ledger {folder}/taken/x.h5.",
    "summary=/dev/full": "summary /dev/full: No space left on device",
    "summary=/proc/none/s": "summary /proc/none/s: No such file or directory",
}


@pytest.mark.parametrize("settings", FAILURES)
def test_what_cannot_be_written_harms_nobody(model: Model, settings: str) -> None:
    (model.folder / "taken").write_text("a file, no folder")
    model.plain(write_chunks)
    native = (model.folder / "x.h5").read_bytes()
    assert model.python(write_chunks, settings).err == b""
    assert (model.folder / "x.h5").read_bytes() == native
    assert FAILURES[settings].format(folder=model.folder) in model.log
    assert model.log.count("\n") == 1, "said once"


def try_to_make_a_file() -> None:
    try:
        h5py.File("x.h5", "w")
    except OSError as error:
        print(error)


def test_a_malformed_setting_fails_the_open(model: Model) -> None:
    told = model.python(try_to_make_a_file, "latency=soon").out.decode()
    assert "latency" in told
    assert "soon" in told
