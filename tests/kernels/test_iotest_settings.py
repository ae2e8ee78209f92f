"""The INI files and options of `iotest`: which cases they give, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest
from harness.prefix import Hdf5
from harness.run import run
from harness.stack import CLEAN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernels.bench_tool import Bench, program
from kernels.iotest_tool import BASIC, ONE_RANK, SMALL, cases

# As the original distributes it.
THEIRS = """\
[DEFAULT]
version = 0                ; Let's keep an open mind!
steps = 20
arrays = 500
rows = 100
columns = 200
process-rows = 1
process-columns = 1
# [weak, strong]
scaling = weak
# align along increment [bytes] boundaries
alignment-increment = 1
alignment-threshold = 0
meta-block-size = 2048
# [posix, core, mpi-io-uni]
single-process = posix
[CUSTOM]
#one-case = 18
hdf5-file = hdf5_iotest.h5
csv-file = hdf5_iotest.csv
"""

KEYS = [
    "version",
    "steps",
    "arrays",
    "rows",
    "columns",
    "process-rows",
    "process-columns",
    "scaling",
    "dataset-rank",
    "slowest-dimension",
    "layout",
    "fill-values",
    "alignment-increment",
    "alignment-threshold",
    "meta-block-size",
    "libver-bound-low",
    "libver-bound-high",
    "gzip",
    "szip",
    "split",
    "mpi-io",
    "single-process",
    "hdf5-file",
    "csv-file",
    "restart",
    "one-case",
    "async",
    "delay",
]


def ini(bench: Bench, text: str) -> Path:
    path = bench.folder / "my.ini"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_ini_file_of_the_original(serial: Bench) -> None:
    path = ini(serial, THEIRS)
    assert cases(serial, path) == ONE_RANK
    done = serial.start("iotest", "--list", path)
    first = json.loads(done.out.splitlines()[0])
    assert first["bytes"]["written"] == 20 * 500 * 100 * 200 * 8
    sample = serial.samples("iotest", path, *SMALL, "--one-case", 1, "--keep")[0]
    assert sample["bytes"]["written"] == 2 * 3 * 4 * 6 * 8
    assert (serial.kept("iotest", sample["case"]) / "hdf5_iotest.h5").exists()
    assert len((serial.folder / "hdf5_iotest.csv").read_text().splitlines()) == 2


def test_quick_overrides_the_sizes_of_a_file_and_options_those_of_quick(serial: Bench) -> None:
    path = ini(serial, THEIRS)
    done = serial.start("iotest", path, "--list", "--quick", "--rows", 30)
    parameters = json.loads(done.out.splitlines()[0])["parameters"]
    sizes = [parameters[key] for key in ("steps", "arrays", "rows", "columns")]
    assert sizes == [2, 5, 30, 20]


def test_without_a_file_the_defaults_are_theirs(serial: Bench) -> None:
    done = serial.start("iotest", "--list")
    assert json.loads(done.out.splitlines()[0])["parameters"] == {
        "number": 1,
        "steps": 20,
        "arrays": 500,
        "rows": 100,
        "columns": 200,
        "process-rows": 1,
        "process-columns": 1,
        "scaling": "weak",
        "single-process": "posix",
        "dataset-rank": 2,
        "slowest-dimension": "step",
        "layout": "contiguous",
        "mpi-io": "independent",
        "fill-values": True,
        "libver-bound-low": "earliest",
        "libver-bound-high": "latest",
        "alignment-increment": 1,
        "alignment-threshold": 0,
        "meta-block-size": 2048,
        "gzip": 0,
        "szip": "",
        "split": False,
        "delay": 0,
    }


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("dataset-rank", "3", "3d-"),
        ("slowest-dimension", "array", "-array-"),
        ("layout", "chunked", "-chunked-"),
        ("mpi-io", "collective", "-collective"),
    ],
)
def test_a_key_selects(tmp_path: Path, key: str, value: str, part: str) -> None:
    bench = Bench(tmp_path, Hdf5("1.14.5-openmpi"), ranks=2)
    wanted = [case for case in BASIC if part in case]
    assert 0 < len(wanted) < 24
    path = ini(bench, f"[DEFAULT]\n{key} = {value}\n")
    assert cases(bench, path) == wanted
    assert cases(bench, f"--{key}", value) == wanted
    assert cases(bench, path, f"--{key}", "all") == BASIC


def test_all_four_select_one(serial: Bench) -> None:
    text = "dataset-rank = 4\nslowest-dimension=array\nlayout: chunked\n  mpi-io = collective ; yes"
    assert cases(serial, ini(serial, text)) == ["4d-array-chunked-collective"]


def test_lists_span(serial: Bench) -> None:
    path = ini(
        serial,
        "dataset-rank = 4, 2\nslowest-dimension = step\nlayout = chunked\n"
        "fill-values = all\nalignment-increment = 1,4Ki\n",
    )
    assert cases(serial, path) == [
        f"{rank}d-step-chunked-independent{rest}"
        for rank in (4, 2)
        for rest in ("", "-align=4096", "-nofill", "-nofill-align=4096")
    ]


def test_every_key_has_a_name_in_the_case(serial: Bench) -> None:
    chosen = {
        "one-case": "1",
        "layout": "chunked",
        "scaling": "strong",
        "single-process": "core",
        "fill-values": "false",
        "alignment-increment": "512",
        "alignment-threshold": "64",
        "meta-block-size": "0",
        "libver-bound-low": "v18",
        "libver-bound-high": "v110",
        "gzip": "3",
        "split": "1",
    }
    options = [word for key, value in chosen.items() for word in (f"--{key}", value)]
    assert cases(serial, *options) == [
        "2d-step-chunked-independent-strong-core-nofill-align=512-threshold=64-meta=0-low=v18"
        "-high=v110-gzip=3-split"
    ]


def test_names_do_not_depend_on_other_cases(serial: Bench) -> None:
    spanning = ("--fill-values", "all", "--gzip", "0,1,9", "--meta-block-size", "0,2048")
    many = cases(serial, *spanning)
    assert len(many) == len(set(many)) == 6 * 4 + 6 * 3 * 4
    for number in (1, 17, len(many)):
        assert cases(serial, *spanning, "--one-case", number) == [many[number - 1]]


def test_numbers_of_cases_in_names_of_files(serial: Bench) -> None:
    chosen = ("--hdf5-file", "a#b.h5", "--dataset-rank", 2, "--keep")
    samples = serial.samples("iotest", *SMALL, *chosen)
    assert len(samples) == 4
    for number, sample in enumerate(samples, start=1):
        assert (serial.kept("iotest", sample["case"]) / f"a{number:04}b.h5").exists()


def test_contiguous_cases_of_a_compressed_run_are_not(serial: Bench) -> None:
    wanted = [case + ("-gzip=4" if "chunked" in case else "") for case in ONE_RANK]
    assert cases(serial, "--gzip", 4) == wanted


def test_compressed_cases_of_several_ranks_are_collective(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Hdf5("1.14.5-openmpi"), ranks=2)
    assert cases(bench, "--gzip", 4, "--dataset-rank", 3, "--slowest-dimension", "step") == [
        "3d-step-contiguous-independent",
        "3d-step-contiguous-collective",
        "3d-step-chunked-collective-gzip=4",
    ]
    done = bench.start("iotest", "--list", "--gzip", 4, "--mpi-io", "independent")
    assert done.status == 2
    assert "only collectively, and gzip is 4" in done.text
    done = bench.start("iotest", "--list", "--split", 1)
    assert done.status == 2
    assert "split driver does not work over MPI-IO" in done.text


def test_the_grid_must_be_that_of_the_ranks(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Hdf5("1.14.5-openmpi"), ranks=2)
    done = bench.start("iotest", "--list", ini(bench, THEIRS))
    assert done.status == 2
    assert "my.ini:7: process-rows = 1: process-rows times process-columns" in done.text
    assert "there are 2 processes, not 1 x 1" in done.text
    for grid in (("--process-rows", 3), ("--process-columns", 3), ("--process-rows", "4Gi")):
        assert bench.start("iotest", "--list", *grid).status == 2
    strong = ("--scaling", "strong", "--process-rows", 2, "--rows", 7)
    done = bench.start("iotest", "--list", *strong)
    assert done.status == 2
    assert "--rows: rows = 7: with strong scaling, process-rows (2) must divide it" in done.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step = 3", "my.ini:1: there is no key step; the keys are version, steps, "),
        ("\n\nsteps = three", "my.ini:3: steps = three: allowed are whole numbers from 1 to "),
        ("steps = 0", "steps = 0: allowed are whole numbers from 1"),
        ("steps = -1", "steps = -1: allowed are"),
        ("steps = 2x", "steps = 2x: allowed are"),
        ("steps =", "my.ini:1: steps = : allowed are"),
        ("steps = 99999999999999999999", "allowed are whole numbers"),
        ("steps = 1,2", "steps = 1,2: allowed are whole numbers"),
        ("steps = 4294967296\narrays = 4294967296", "larger than 4 EiB"),
        ("rows = 1Gi\ncolumns = 1Gi", "larger than 4 EiB"),
        ("dataset-rank = 5", "dataset-rank = 5: allowed are all, or one or more of 2,3,4"),
        ("dataset-rank = 2,2", "2 is there twice"),
        ("layout = Chunked", "allowed are all, or one or more of contiguous,chunked"),
        ("mpi-io = both", "independent,collective"),
        ("single-process = hermes", "posix,core,mpi-io-uni"),
        ("version = 1", "version = 1: allowed are"),
        ("async = 1", "async = 1: allowed are"),
        ("delay = 3", "delay = 3: allowed are times up to a day, as 20ms"),
        ("delay = nans", "allowed are times"),
        ("restart = 1", "restart = 1: needs csv-file"),
        ("restart = 0,1\ncsv-file = a.csv", "allowed is one of 0,1"),
        ("one-case = 13", "one-case = 13: there are 12 cases"),
        ("gzip = 10", "gzip = 10: allowed are"),
        ("gzip = 2\nlayout = contiguous", "only chunks are compressed, and layout is contiguous"),
        ("szip = H5_SZIP_XX, 8", "H5_SZIP_EC_OPTION_MASK or H5_SZIP_NN_OPTION_MASK"),
        ("szip = H5_SZIP_NN_OPTION_MASK, 7", "must be even"),
        ("szip = H5_SZIP_NN_OPTION_MASK", "whole numbers from 2 to 32"),
        ("szip = H5_SZIP_NN_OPTION_MASK, 8\ngzip = 1", "not together with gzip"),
        ("szip = H5_SZIP_NN_OPTION_MASK, 8", "is built without szip's encoder"),
        ("libver-bound-low = v110\nlibver-bound-high = v18", "v110 is newer than v18"),
        ("libver-bound-high = earliest", "earliest and nothing newer"),
        ("libver-bound-low = v200", "HDF5 1.14.5 does not know v200"),
        ("split = 1\nsingle-process = mpi-io-uni", "split driver does not work over MPI-IO"),
        ("hdf5-file = /scratch/a.h5", "hdf5-file = /scratch/a.h5: allowed are names of files"),
        ("csv-file = /nowhere/a.csv", "csv-file /nowhere/a.csv: its folder is missing"),
        ("[DEFAULT\nsteps = 1", "my.ini:1: is neither [section], nor key = value"),
        ("[DEFAULT]\nsteps", "my.ini:2: is neither [section], nor key = value"),
        ("steps = 1" + " " * 300 + "\n", "my.ini:1: the line is longer than "),
        ("steps = 1\0", "is not an INI file"),
    ],
)
def test_bad_ini_files(serial: Bench, text: str, message: str) -> None:
    done = serial.start("iotest", "--list", ini(serial, text))
    assert done.status == 2, done.text
    assert message in done.text
    assert done.out == b""


def test_what_cannot_be_read(serial: Bench) -> None:
    done = serial.start("iotest", "missing.ini")
    assert done.status == 2
    assert "missing.ini: cannot be read: No such file or directory" in done.text
    done = serial.start("iotest", serial.folder)
    assert done.status == 2
    assert "Is a directory" in done.text


def test_every_key_is_an_option(serial: Bench) -> None:
    done = serial.start("iotest", "--help")
    for key in KEYS:
        assert f"--{key} " in done.text, key
        refused = serial.start("iotest", "--list", f"--{key}", "?/")
        if key != "csv-file":
            assert refused.status == 2, refused.text
            assert f"--{key}: {key} = ?/: " in refused.text


def test_szip_where_the_library_has_it(tmp_path: Path) -> None:
    libraries = list(Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*.so*"))
    if not libraries:
        pytest.skip("this h5py brings no libhdf5 of its own")
    chosen = ("--szip", "H5_SZIP_NN_OPTION_MASK, 8", "--layout", "chunked", "--dir", tmp_path)
    command = [program(), "--hdf5", libraries[0], "iotest", "--quick", *chosen]
    done = run([str(word) for word in command], env=CLEAN, cwd=tmp_path)
    assert done.status == 0, done.text
    samples = [json.loads(line) for line in done.out.splitlines()]
    assert len(samples) == 6
    assert all(each["case"].endswith("-szip=nn.8") for each in samples)
    assert all(each["verified"] for each in samples)


VALUES = st.one_of(
    st.sampled_from(["all", "1", "0", "2,3", "true", "array", "chunked", "latest", "1Ki", ",", ""]),
    st.integers().map(str),
    st.text(max_size=20),
)
LINES = st.one_of(
    st.tuples(st.sampled_from(KEYS), st.sampled_from("=:"), VALUES).map(" ".join),
    st.text(max_size=250),
    st.sampled_from(["[DEFAULT]", "[CUSTOM]", "[", "]", "; x", "# y", "", "\ufeff[A]"]),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=st.lists(LINES, max_size=6))
def test_any_file_is_understood_or_refused(serial: Bench, lines: list[str]) -> None:
    path = serial.folder / "any.ini"
    text = "\n".join(lines)
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    done = serial.start("iotest", "--list", path)
    if done.status == 0:
        assert all(json.loads(line)["kernel"] == "iotest" for line in done.out.splitlines())
        assert done.out
    else:
        assert done.status == 2, done.text
        assert done.text.startswith("headrace-bench: ")
        assert len(done.text) > len("headrace-bench: \n")
