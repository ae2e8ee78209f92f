"""Traces in other tools' formats: what those tools read is what the program did."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
from harness.layer import NATIVE_BELOW
from layers.trace.conftest import Traced

from headrace.errors import FileError
from headrace.trace import Trace
from headrace.trace.views.export import callgrind, darshan, model, parquet, perfetto
from headrace.trace.views.export.selections import selection

ROWS, COLUMNS = 50, 1000
FORMATS = {
    "perfetto": perfetto,
    "parquet": parquet,
    "callgrind": callgrind,
    "darshan": darshan,
    "model": model,
}


def write_and_read() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("group/rows", (ROWS, COLUMNS), "f8", chunks=(10, COLUMNS))
        for i in range(ROWS):
            d[i] = np.arange(COLUMNS) + i
        f["small"] = np.arange(3, dtype="i4")
        f.visit(lambda name: f[name].attrs.create("seen", 1))
    with h5py.File("x.h5") as f:
        d = f["group/rows"]
        threads = [threading.Thread(target=lambda i: d[i, 10:20], args=(i,)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        f["small"][()]
    if (child := os.fork()) == 0:
        with h5py.File("child.h5", "w") as f:
            f["x"] = np.arange(20)
        os._exit(0)
    os.waitpid(child, 0)
    with h5py.File("last.h5", "w") as f:
        f["x"] = 1


@pytest.fixture(params=["alone", "above and below async"])
def trace(request: pytest.FixtureRequest, layer: Traced) -> Trace:
    lowest = f"under_vol=7210;under_info={{output=traced;{NATIVE_BELOW}}}"
    if request.param != "alone":
        layer = Traced(layer.folder, below=f"under_vol=7206;under_info={{{lowest}}}")
    layer.python(write_and_read)
    found = layer.read()
    assert len(found.processes) == 2
    return found


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return tmp_path / "exported"


def program_calls(trace: Trace) -> list[dict[str, Any]]:
    return [each for each in trace.calls.to_pylist() if each["level"] == 0]


# ---- Perfetto


def events(trace: Trace, path: Path) -> list[dict[str, Any]]:
    perfetto.write(trace, path)
    found = json.loads(path.read_text())["traceEvents"]
    assert isinstance(found, list)
    return found


def test_perfetto_has_every_call_and_request(trace: Trace, exported: Path) -> None:
    found = Counter(
        (each["cat"], each["name"]) for each in events(trace, exported) if "cat" in each
    )
    calls = {(each["process"], each["number"]): each["call"] for each in trace.calls.to_pylist()}
    expected = Counter(("call", name) for name in calls.values())
    expected.update(("request", each["request"]) for each in trace.requests.to_pylist())
    assert found == expected


def test_perfetto_shows_events_that_nest(trace: Trace, exported: Path) -> None:
    tracks = defaultdict(list)
    for each in events(trace, exported):
        if each["ph"] == "X":
            assert each["ts"] >= 0
            begin = round(each["ts"] * 1000)
            tracks[each["pid"], each["tid"]].append((begin, begin + round(each["dur"] * 1000)))
    assert len(tracks) > 2
    for spans in tracks.values():
        open_until: list[int] = []
        assert spans == sorted(spans, key=lambda each: (each[0], -each[1]))
        for begin, end in spans:
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_perfetto_has_one_clock_for_all_processes(trace: Trace, exported: Path) -> None:
    found = events(trace, exported)
    names = {each["pid"]: each["args"]["name"] for each in found if each["name"] == "process_name"}
    assert sorted(names.values()) == sorted(
        f"{each.about['host']} {each.about['pid']}" for each in trace.processes
    )
    times = {
        each["args"]["object"].partition(":")[0]: (each["ts"], each["ts"] + each["dur"])
        for each in found
        if each["name"] in ("file_create", "file_close")
    }
    assert times["x.h5"][1] < times["child.h5"][0] < times["child.h5"][1] < times["last.h5"][0]


def test_perfetto_tells_what_transfers_select(trace: Trace, exported: Path) -> None:
    read = {
        (each["args"]["object"], each["args"]["selection"]): each["args"]["bytes"]
        for each in events(trace, exported)
        if each["name"] == "dataset_read" and "selection" in each["args"]
    }
    rows = {("x.h5:/group/rows", f"[{i}, 10:20] of {ROWS} x {COLUMNS}"): 80 for i in range(4)}
    assert rows.items() <= read.items()
    assert read["x.h5:/small", "all of 3"] == 12


@pytest.mark.parametrize(
    ("fact", "start", "told"),
    [
        ({"kind": "all", "dims": []}, 0, "all of one element"),
        ({"kind": "none", "dims": [4]}, 0, "nothing"),
        (
            {"kind": "hyperslab", "dims": [9, 9], "count": [2, 1], "stride": [4, 1],
             "block": [2, 3]},
            12,
            "[1:7:4 in blocks of 2, 3:6] of 9 x 9",
        ),
        (
            {"kind": "points", "dims": [9, 9], "elements": 5, "block": [3, 4]},
            10,
            "5 points within [1:4, 1:5] of 9 x 9",
        ),
        ({}, 0, ""),
    ],
)  # fmt: skip
def test_selections_in_words(fact: dict[str, Any], start: int, told: str) -> None:
    assert selection(fact, start) == told


# ---- Parquet


def test_parquet_is_read_by_pandas_polars_and_duckdb(trace: Trace, exported: Path) -> None:
    parquet.write(trace, exported)
    calls = trace.calls.to_pylist()
    expected = {each["path"]: 0 for each in calls if each["path"] is not None}
    for each in calls:
        if each["path"] is not None:
            expected[each["path"]] += each["bytes"]
    file = exported / "calls.parquet"
    by_pandas = pd.read_parquet(file).groupby("path", observed=True)["bytes"].sum().to_dict()
    frame = pl.read_parquet(file).drop_nulls("path").with_columns(pl.col("path").cast(pl.String))
    by_polars = dict(frame.group_by("path").agg(pl.col("bytes").sum()).iter_rows())
    query = f"SELECT path, sum(bytes) FROM '{file}' WHERE path IS NOT NULL GROUP BY path"  # noqa: S608
    by_duckdb = dict(duckdb.connect().execute(query).fetchall())
    assert by_pandas == by_polars == by_duckdb == expected


def test_parquet_has_what_the_columns_name(trace: Trace, exported: Path) -> None:
    parquet.write(trace, exported)
    tables = {each.stem: pd.read_parquet(each) for each in exported.iterdir()}
    assert len(tables["requests"]) == len(trace.requests)
    assert tables["processes"]["pid"].tolist() == [each.about["pid"] for each in trace.processes]
    joined = tables["calls"].merge(tables["objects"], on=["process", "object"])
    rows = joined[(joined["path_y"] == "/group/rows") & (joined["layout"] == "chunked")]
    assert set(rows["path_x"]) == {"/group/rows"}
    assert rows["chunk"].iloc[0].tolist() == [10, COLUMNS]
    shapes = tables["shapes"].set_index(["process", "shape"])["elements"]
    reads = joined[(joined["call"] == "dataset_read") & (joined["path_y"] == "/group/rows")]
    assert 10 in {shapes[key] for key in zip(reads["process"], reads["file_shape"], strict=True)}
    assert set(tables["files"]["name"]) == {"x.h5", "child.h5", "last.h5"}


def test_parquet_takes_the_place_of_an_export_only(trace: Trace, exported: Path) -> None:
    for _ in range(2):
        parquet.write(trace, exported)
    assert len(list(exported.parent.glob("*exported*"))) == 1
    (exported / "other.parquet").touch()
    with pytest.raises(FileError, match=r"other\.parquet"):
        parquet.write(trace, exported)
    assert (exported / "calls.parquet").exists()


# ---- callgrind


def test_callgrind_has_the_costs_of_lines(trace: Trace, exported: Path) -> None:
    callgrind.write(trace, exported)
    costs: dict[str, Any] = defaultdict(lambda: np.zeros(3, np.int64))
    file, total = "", [0]
    for line in exported.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "fl":
            file = value
        elif line.startswith("summary: "):
            total = [int(each) for each in line.split()[1:]]
        elif line[:1].isdigit():
            at, *numbers = map(int, line.split())
            costs[f"{file}:{at}"] = np.array(numbers) + costs[f"{file}:{at}"]
    assert sum(costs.values()).tolist() == total
    outer = [each for each in program_calls(trace) if not each["parent"]]
    spent = sum(round(each["seconds"] * 1e9) for each in outer)
    assert total[0] == pytest.approx(spent, abs=len(program_calls(trace)))
    assert total[1] == len({(each["process"], each["number"]) for each in program_calls(trace)})
    assert total[2] == sum(each["bytes"] for each in program_calls(trace))
    by_line: Counter[str] = Counter()
    for each in outer:
        by_line[each["line"] or "???:0"] += each["bytes"]
    assert {line: cost[2] for line, cost in costs.items() if cost[2]}.items() >= {
        line: moved for line, moved in by_line.items() if moved > ROWS * COLUMNS
    }.items()


def test_callgrind_annotate_takes_it(trace: Trace, exported: Path) -> None:
    if shutil.which("callgrind_annotate") is None:
        pytest.skip("callgrind_annotate is not installed")
    callgrind.write(trace, exported)
    command = ["callgrind_annotate", "--threshold=100", str(exported)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "dataset_write /group/rows" in told.stdout
    assert not told.stderr


# ---- Darshan


@pytest.fixture
def report(trace: Trace, exported: Path) -> Any:
    darshan.write(trace, exported)
    return importlib.import_module("darshan").DarshanReport(str(exported), read_all=True)


def sums(report: Any, module: str) -> Counter[str]:
    table = report.records[module].to_df()["counters"].drop(columns=["id", "rank"]).sum()
    return Counter({name.removeprefix(f"{module}_"): int(n) for name, n in table.items()})


def test_darshan_counts_requests_as_the_trace(trace: Trace, report: Any) -> None:
    counted = sums(report, "POSIX")
    levels = [max(s["level"] for s in each.storages.values()) for each in trace.processes]
    requests = [
        each for each in trace.requests.to_pylist() if each["level"] == levels[each["process"]]
    ]
    for kind, done in (("read", "READ"), ("write", "WRITTEN")):
        lengths = [each["length"] for each in requests if each["request"] == kind]
        assert counted[f"{kind.upper()}S"] == len(lengths)
        assert counted[f"BYTES_{done}"] == sum(lengths)
        sizes = {name: n for name, n in counted.items() if name.startswith(f"SIZE_{kind.upper()}")}
        assert sum(sizes.values()) == len(lengths)
        assert sizes[f"SIZE_{kind.upper()}_0_100"] == sum(each <= 100 for each in lengths)
    segments = report.records["DXT_POSIX"].to_df()
    written = sum(int(each["write_segments"]["length"].sum()) for each in segments)
    assert written == counted["BYTES_WRITTEN"]
    assert counted["OPENS"] >= 4
    assert {each["hostname"] for each in segments} == {trace.processes[0].about["host"]}


def test_darshan_counts_what_the_program_did(trace: Trace, report: Any) -> None:
    counted = sums(report, "H5D")
    assert counted["WRITES"] == ROWS + 3
    assert counted["READS"] == 5
    assert counted["BYTES_WRITTEN"] == 8 * ROWS * COLUMNS + 12 + 160 + 8
    assert counted["BYTES_READ"] == 4 * 80 + 12
    assert (counted["SIZE_WRITE_AGG_1K_10K"], counted["SIZE_READ_AGG_0_100"]) == (ROWS, 5)
    files = sums(report, "H5F")
    assert files["OPENS"] == 4
    table = report.records["H5D"].to_df()["counters"].set_index("id")
    (id_,) = (i for i, name in report.name_records.items() if name == "x.h5:/group/rows")
    of_rows = table.loc[id_]
    assert of_rows["H5D_DATASPACE_NDIMS"] == 2
    assert of_rows["H5D_DATASPACE_NPOINTS"] == ROWS * COLUMNS
    assert of_rows["H5D_DATATYPE_SIZE"] == 8
    assert of_rows[["H5D_CHUNK_SIZE_D1", "H5D_CHUNK_SIZE_D2"]].tolist() == [COLUMNS, 10]
    assert of_rows["H5D_ACCESS1_COUNT"] == ROWS
    assert of_rows["H5D_ACCESS1_LENGTH_D1"] == COLUMNS
    assert of_rows["H5D_RW_SWITCHES"] == 1
    times = report.records["H5D"].to_df()["fcounters"].set_index("id").loc[id_]
    spent = sum(
        each["seconds"]
        for each in program_calls(trace)
        if (each["call"], each["path"]) == ("dataset_write", "/group/rows")
    )
    assert times["H5D_F_WRITE_TIME"] == pytest.approx(spent)
    job = report.metadata["job"]
    assert 0 < times["H5D_F_OPEN_START_TIMESTAMP"] < times["H5D_F_CLOSE_END_TIMESTAMP"]
    assert times["H5D_F_CLOSE_END_TIMESTAMP"] <= job["run_time"]
    assert job["nprocs"] == 2
    assert job["uid"] == os.getuid()
    assert report.metadata["exe"].startswith(trace.processes[0].about["command"][0])


def test_darshan_makes_its_summary(trace: Trace, exported: Path) -> None:
    for needed in ("mako", "matplotlib", "seaborn"):
        pytest.importorskip(needed)
    darshan.write(trace, exported)
    command = [
        sys.executable,
        "-m",
        "darshan",
        "summary",
        str(exported),
        "--output",
        "out.html",
    ]
    done = subprocess.run(command, cwd=exported.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Per-Module Statistics: HDF5" in (exported.parent / "out.html").read_text()


def test_what_darshan_needs_is_told(
    layer: Traced, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer.python("f = h5py.File('x.h5', 'w')")
    monkeypatch.setitem(sys.modules, "darshan.backend", None)
    darshan.log.names.cache_clear()
    with pytest.raises(FileError, match="pip install"):
        darshan.write(layer.read(), exported)


# ---- all


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_written_is_an_error(name: str, layer: Traced, tmp_path: Path) -> None:
    layer.python("f = h5py.File('x.h5', 'w'); f['x'] = 1")
    trace, folder = layer.read(), tmp_path / "folder"
    with pytest.raises(FileError, match="missing/out: No such file"):
        FORMATS[name].write(trace, tmp_path / "missing/out")
    (folder / "taken").mkdir(parents=True)
    (folder / "taken/thesis.tex").touch()
    with pytest.raises(FileError, match="taken"):
        FORMATS[name].write(trace, folder / "taken")
    assert [each.name for each in folder.iterdir()] == ["taken"], "nothing is left behind"


@pytest.mark.parametrize("name", FORMATS)
def test_an_interrupted_export_leaves_what_was_there(
    name: str, layer: Traced, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer.python("f = h5py.File('x.h5', 'w'); f['x'] = 1")
    FORMATS[name].write(layer.read(), exported)
    before = {each: each.read_bytes() for each in exported.parent.rglob("*") if each.is_file()}

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        FORMATS[name].write(layer.read(), exported)
    after = {each: each.read_bytes() for each in exported.parent.rglob("*") if each.is_file()}
    assert after == before


@pytest.mark.parametrize("name", FORMATS)
def test_nobody_else_may_read_it(name: str, layer: Traced, exported: Path) -> None:
    layer.python("f = h5py.File('x.h5', 'w'); f['x'] = 1")
    FORMATS[name].write(layer.read(), exported)
    assert not exported.stat().st_mode & 0o077


@pytest.mark.parametrize("name", FORMATS)
def test_empty_traces_are_written(name: str, layer: Traced, exported: Path) -> None:
    layer.python("f = h5py.File('x.h5', 'w')")
    trace = layer.read()
    for process in trace.processes:
        process.calls = {key: column[:0] for key, column in process.calls.items()}
        process.requests = {key: column[:0] for key, column in process.requests.items()}
    FORMATS[name].write(trace, exported)
    assert exported.exists()
