"""The CSV file of `iotest`: the columns of hdf5-iotest, and runs that go on where one stopped."""

from __future__ import annotations

import csv
import signal
import subprocess
import time
from pathlib import Path

import pytest
from harness.prefix import Hdf5
from kernels.bench_tool import SERIAL, Bench, program
from kernels.iotest_tool import BASIC, ONE_RANK, SMALL

THEIRS = (
    "steps,arrays,rows,cols,scaling,proc-rows,proc-cols,slowdim,rank,version,"
    "alignment-increment,alignment-threshold,meta-block-size,layout,fill,fmt,io,async,"
    "wall [s],fsize [B],write-phase-min [s],write-phase-max [s],creat-min [s],creat-max [s],"
    "write-min [s],write-max [s],read-phase-min [s],read-phase-max [s],read-min [s],read-max [s]"
)
OURS = (
    "fmt-high,mpi-io,single-process,gzip,szip,split,delay [s],stack,repeat,"
    "case,connector,driver,hdf5,started,create-min [s],create-max [s],flush-min [s],flush-max [s],"
    "close-min [s],close-max [s],sync-min [s],sync-max [s],open-min [s],open-max [s],"
    "close-read-min [s],close-read-max [s],verified"
)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_columns(bench: Bench) -> None:
    path = bench.folder / "out.csv"
    samples = bench.samples("iotest", *SMALL, "--csv", path)
    assert path.read_text().splitlines()[0] == f"{THEIRS},{OURS}"
    rows = rows_of(path)
    assert [row["case"] for row in rows] == (BASIC if bench.ranks else ONE_RANK)
    for row, sample in zip(rows, samples, strict=True):
        assert None not in row
        rank, slowest, layout, mode = row["case"].split("-")
        wanted = {
            "steps": "2",
            "arrays": "3",
            "rows": "4",
            "cols": "6",
            "scaling": "weak",
            "proc-rows": "1",
            "proc-cols": str(max(1, bench.ranks)),
            "slowdim": slowest,
            "rank": rank[0],
            "version": bench.hdf5.name.partition("-")[0],
            "alignment-increment": "1",
            "alignment-threshold": "0",
            "meta-block-size": "2048",
            "layout": layout,
            "fill": "true",
            "fmt": "earliest",
            "io": mode if bench.ranks else "posix",
            "async": "0",
            "fsize [B]": str(sample["bytes"]["file"]),
            "fmt-high": "latest",
            "mpi-io": mode,
            "gzip": "0",
            "szip": "",
            "split": "0",
            "stack": "",
            "repeat": "0",
            "connector": "native",
            "driver": sample["driver"],
            "hdf5": sample["hdf5"],
            "started": sample["started"],
            "verified": "true",
        }
        assert {key: row[key] for key in wanted} == wanted
        phases = sample["phases"]
        for column in ("create", "write", "flush", "close", "open", "read", "close_read"):
            name = column.replace("_", "-")
            for end in ("min", "max"):
                assert float(row[f"{name}-{end} [s]"]) == phases[column][end]
        wall = sample["write_wall"] + sample["read_wall"]
        assert float(row["wall [s]"]) == pytest.approx(wall, abs=1e-8)
        made = [phases[each] for each in ("create", "flush", "close")]
        assert float(row["creat-min [s]"]) >= sum(each["min"] for each in made) - 1e-8
        assert float(row["creat-max [s]"]) <= sum(each["max"] for each in made) + 1e-8
        least, most = float(row["write-phase-min [s]"]), float(row["write-phase-max [s]"])
        assert phases["write"]["min"] < least <= most <= sample["write_wall"]
        least, most = float(row["read-phase-min [s]"]), float(row["read-phase-max [s]"])
        assert phases["read"]["min"] < least <= most <= sample["read_wall"]


def test_the_original_s_columns_as_its_scripts_read_them(serial: Bench) -> None:
    """viz/showme.py looks for these names, none with a leading blank."""
    path = serial.folder / "out.csv"
    serial.samples("iotest", *SMALL, "--csv", path, "--one-case", 1)
    row = rows_of(path)[0]
    for name in ("write-max [s]", "read-max [s]", "creat-max [s]", "wall [s]"):
        assert float(row[name]) > 0
    # As theirs, the version is quoted: 1.10 is no number.
    assert ',"1.14.5",' in path.read_text()


def test_rows_are_appended_but_not_of_warm_ups(serial: Bench) -> None:
    path = serial.folder / "out.csv"
    for _ in range(2):
        serial.samples(
            "iotest", *SMALL, "--csv", path, "--one-case", 3, "--repeats", 2, "--warmup", 1
        )
    assert [row["repeat"] for row in rows_of(path)] == ["0", "1", "0", "1"]
    assert {row["case"] for row in rows_of(path)} == {ONE_RANK[2]}


def test_restart_skips_exactly_what_is_there(bench: Bench) -> None:
    path = bench.folder / "out.csv"
    chosen = ("--csv", path, "--dataset-rank", "2,4", "--layout", "chunked")
    ran = [each["case"] for each in bench.samples("iotest", *SMALL, *chosen)]
    lines = path.read_text().splitlines(keepends=True)
    del lines[2]
    path.write_text("".join(lines))
    again = bench.samples("iotest", *SMALL, *chosen, "--restart", 1)
    assert [each["case"] for each in again] == [ran[1]]
    done = bench.start("iotest", *SMALL, *chosen, "--restart", 1)
    assert (done.status, done.out) == (0, b"")
    assert sorted(row["case"] for row in rows_of(path)) == sorted(ran)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", "1"),
        ("arrays", "2"),
        ("rows", "2"),
        ("columns", "2"),
        ("scaling", "strong"),
        ("dataset-rank", "3"),
        ("slowest-dimension", "array"),
        ("layout", "contiguous"),
        ("mpi-io", "collective"),
        ("fill-values", "false"),
        ("alignment-increment", "8"),
        ("alignment-threshold", "8"),
        ("meta-block-size", "4096"),
        ("libver-bound-low", "v18"),
        ("libver-bound-high", "v110"),
        ("gzip", "1"),
        ("split", "1"),
        ("single-process", "core"),
        ("delay", "1ms"),
    ],
)
def test_restart_compares_all_parameters(serial: Bench, key: str, value: str) -> None:
    """The original looks for the word `false` in the whole line."""
    path = serial.folder / "out.csv"
    one = ("--dataset-rank", 2, "--slowest-dimension", "step", "--layout", "chunked")
    chosen = ("--csv", path, "--restart", 1, *one)
    assert len(serial.samples("iotest", *SMALL, *chosen)) == 1
    assert len(serial.samples("iotest", *SMALL, *chosen, f"--{key}", value)) == 1
    assert len(rows_of(path)) == 2
    for again in ((), (f"--{key}", value)):
        assert serial.start("iotest", *SMALL, *chosen, *again).out == b""


def test_restart_knows_repeats_ranks_and_the_stack(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    one = ("--dataset-rank", 2, "--slowest-dimension", "step", "--layout", "chunked")
    chosen = (*SMALL, "--csv", path, "--restart", 1, *one, "--mpi-io", "independent")
    serial = Bench(tmp_path)

    def repeats(bench: Bench, *options: object) -> list[int]:
        return [each["repeat"] for each in bench.samples("iotest", *chosen, *options)]

    assert repeats(serial, "--repeats", 2) == [0, 1]
    assert repeats(serial, "--repeats", 4) == [2, 3]
    assert repeats(serial, "--repeats", 2, "--first-repeat", 3) == [4]
    assert repeats(serial, "--compute", "1ms") == [0]
    assert repeats(Bench(tmp_path, Hdf5("1.14.5-openmpi"), ranks=2)) == [0]
    assert repeats(Bench(tmp_path, Hdf5("2.2.0-mpich"))) == [0]
    stack = "pass_through under_vol=0;under_info={}"
    through = Bench(tmp_path, environ={"HDF5_VOL_CONNECTOR": stack})
    assert repeats(through) == [0]
    assert through.start("iotest", *chosen).out == b""
    assert rows_of(path)[-1]["connector"] == "pass_through"
    assert rows_of(path)[-1]["stack"] == stack


def test_an_interrupted_run_goes_on(serial: Bench) -> None:
    path = serial.folder / "out.csv"
    chosen = ("--csv", path, "--restart", 1, "--samples", serial.folder / "samples")
    common = ["--hdf5", SERIAL.prefix / "lib/libhdf5.so", "--dir", serial.folder]
    command = [program(), *common, "iotest", *SMALL, *chosen, "--delay", "100ms"]
    started = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE)
    for _ in range(1000):
        if path.exists() and len(path.read_text().splitlines()) >= 4:
            break
        time.sleep(0.01)
    started.send_signal(signal.SIGTERM)
    _, text = started.communicate(timeout=60)
    assert started.returncode == 130
    assert b".partial" in text
    before = rows_of(path)
    assert 3 <= len(before) < 12
    again = serial.samples("iotest", *SMALL, *chosen[:4], "--delay", "100ms")
    assert [each["case"] for each in again] == ONE_RANK[len(before) :]
    assert [row["case"] for row in rows_of(path)] == ONE_RANK


def test_files_of_others_are_refused(serial: Bench) -> None:
    path = serial.folder / "out.csv"
    for text, message in (
        (f"{THEIRS}\n", "has other columns than those of this program"),
        ("my thesis", "has other columns"),
        (f"{THEIRS},{OURS}\n2,3,4", "its last line is cut off"),
    ):
        path.write_text(text)
        done = serial.start("iotest", *SMALL, "--csv", path)
        assert done.status == 2, done.text
        assert message in done.text
        assert path.read_text() == text
        assert not list(serial.folder.glob("iotest-*"))
    done = serial.start("iotest", *SMALL, "--csv", serial.folder)
    assert done.status == 2
    assert "is a folder" in done.text


def test_a_row_is_written_whole_or_not_at_all(serial: Bench) -> None:
    path = serial.folder / "out.csv"
    serial.samples("iotest", *SMALL, "--csv", path, "--one-case", 1)
    text = path.read_text()
    row = text.splitlines(keepends=True)[-1]
    text += row * (((32 << 10) - len(text)) // len(row))
    path.write_text(text)
    # The data of the case fit below the limit, another row of about that length does not.
    command = (
        f"ulimit -f 32; trap '' XFSZ; exec {program()} --hdf5 {SERIAL.prefix}/lib/libhdf5.so "
        f"--dir {serial.folder} --samples /dev/null iotest --csv {path} --one-case 1 "
    ) + " ".join(map(str, SMALL))
    limited = ["/bin/bash", "-c", command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"csv-file {path}: cannot be written" in done.stderr
    assert path.read_text() == text


def test_reading_again_makes_no_row(serial: Bench) -> None:
    path = serial.folder / "out.csv"
    chosen = ("--csv", path, "--one-case", 1, "--restart", 1)
    serial.samples("iotest", *SMALL, *chosen, "--keep")
    assert len(rows_of(path)) == 1
    done = serial.start("iotest", *SMALL, *chosen, "--reread")
    assert done.status == 0
    assert b'"verified":true' in done.out
    assert len(rows_of(path)) == 1
