"""What the driver counts, against the kernel's own counts and what is known of the program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from harness.report import Report

if TYPE_CHECKING:
    from model.conftest import Model

RECORD = "summary=summary;ledger=ledgers"

CONTIGUOUS = """
    import h5py, numpy
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (8, 131072), "f8")
        for i in range(8):
            d[i] = numpy.full(131072, i, "f8")
"""
CHUNKED = """
    import h5py, numpy
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=numpy.arange(200000.).reshape(200, 1000), chunks=(20, 100),
                         compression=1)
        for i in range(50):
            f[f"g/{i}"] = numpy.arange(100)
        f["s"] = ["a", "some text"] * 20
"""
READ = """
    import h5py
    with h5py.File("x.h5") as f:
        f.visititems(lambda _, o: o[...] if isinstance(o, h5py.Dataset) else None)
"""
COUNTED = """
    import json, pathlib
    def io():
        lines = pathlib.Path("/proc/self/io").read_text().splitlines()
        return {key: int(value) for key, value in (line.split(": ") for line in lines)}
    cost = io()  # what reading the counts itself counts
    before = io()
    %s
    after = io()
    print(json.dumps({key: after[key] - 2 * before[key] + cost[key] for key in before}))
"""


def test_a_known_program(model: Model) -> None:
    model.python(CONTIGUOUS, RECORD)
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


@pytest.mark.parametrize("text", [CONTIGUOUS, CHUNKED], ids=["contiguous", "chunked"])
def test_the_kernel_counts_the_same(model: Model, text: str) -> None:
    """The system calls of the same program without the layer."""
    model.python(CONTIGUOUS.replace("x.h5", "warm.h5"), None)
    for program, kind, calls, letters in (
        (text, "writes", "syscw", "wchar"),
        (READ, "reads", "syscr", "rchar"),
    ):
        imports = "import h5py, numpy\n    h5py.File('warm.h5').close()\n"
        body = program.strip().partition("\n")[2].strip("\n")
        counted = imports + COUNTED.strip("\n") % body.strip()
        seen = json.loads(model.python("    " + counted, None).out)
        (model.folder / "summary").unlink(missing_ok=True)
        model.python(program, RECORD)
        (summary,) = model.summaries
        assert summary[kind]["requests"] == seen[calls]
        assert summary[kind]["bytes"] == seen[letters]


@pytest.mark.parametrize("mode", ["count", "predict", "delay"])
def test_files_are_the_same(model: Model, mode: str) -> None:
    model.python(CHUNKED, None)
    native = (model.folder / "x.h5").read_bytes()
    model.python(CHUNKED, f"mode={mode};preset=local-nvme;{RECORD}")
    assert (model.folder / "x.h5").read_bytes() == native
    report = Report(model.folder / "report")
    assert report.calls("vfd")["write"] == model.summaries[0]["writes"]["calls"] > 0
    assert report.calls("vol")["dataset_write"] > 50
    assert model.log == ""


def test_a_ledger_holds_what_the_summary_counts(model: Model) -> None:
    model.python(CHUNKED, f"mode=predict;{RECORD}")
    (summary,) = model.summaries
    (ledger,) = model.ledgers
    (result,) = model.replay(ledger)["results"]
    moved = [summary["reads"], summary["writes"]]
    assert result["requests"] == sum(each["requests"] for each in moved)
    assert result["bytes"] == sum(each["bytes"] for each in moved)
    assert result["seconds"] == pytest.approx(summary["predicted"])


def test_a_seat_above_counts_nothing(model: Model) -> None:
    model.python(CONTIGUOUS, f"seat=vol;{RECORD}")
    assert not (model.folder / "summary").exists()
    assert model.ledgers == []


def test_a_fork_leaves_the_telling_to_its_parent(model: Model) -> None:
    model.python(
        """
        import os, sys, h5py, numpy
        f = h5py.File("x.h5", "w")
        f["d"] = numpy.arange(1000)
        f.flush()
        if os.fork() == 0:
            f.close()
            sys.exit(0)
        os.wait()
        f.close()
        """,
        RECORD,
    )
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
    model.python(CHUNKED, None)
    native = (model.folder / "x.h5").read_bytes()
    assert model.python(CHUNKED, settings).err == b""
    assert (model.folder / "x.h5").read_bytes() == native
    assert FAILURES[settings].format(folder=model.folder) in model.log
    assert model.log.count("\n") == 1, "said once"


def test_a_malformed_setting_fails_the_open(model: Model) -> None:
    text = """
        import h5py
        try:
            h5py.File("x.h5", "w")
        except OSError as error:
            print(error)
    """
    told = model.python(text, "latency=soon").out.decode()
    assert "latency" in told
    assert "soon" in told
