"""The order of jobs, results on disk, tables and what they must not tell."""

import csv
import io
import itertools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import units
from headrace.bench import arguments, place, privacy, stacks, summary, tables
from headrace.bench.arguments import ArgumentError
from headrace.bench.atomic import ResultsError, append_line, write_text
from headrace.bench.child import Outcome
from headrace.bench.jobs import Case, schedule
from headrace.bench.options import Options
from headrace.bench.privacy import without_folders
from headrace.bench.results import Results
from headrace.measuring import machine
from headrace.measuring.programs import Library

_OPTIONS = Options(("ior",), ("--block", "4Mi"), ("native", "null"))


def _sample(case: str, stack: str, repeat: int, **more: Any) -> dict[str, Any]:
    head = {"kernel": "ior", "case": case, "stack": stack, "ranks": 1, "repeat": repeat}
    return head | {"warmup": False} | more


def _good(case: str, stack: str, repeat: int, wall: float) -> dict[str, Any]:
    return _sample(
        case,
        stack,
        repeat,
        write_wall=wall,
        bytes={"written": 1000, "read": 0, "file": 1100},
        phases={"write": {"min": 0.1, "max": wall}},
        verified=True,
    )


@given(st.integers(1, 4), st.integers(0, 2), st.integers(1, 3), st.integers(1, 4))
def test_each_round_runs_all_and_turns_the_stacks_round(
    repeats: int, warmup: int, cases: int, stacks: int
) -> None:
    names = [f"s{i}" for i in range(stacks)]
    listed = [(Case("k", f"c{i}"), names) for i in range(cases)]
    jobs = list(schedule(listed, repeats, warmup))
    assert set(Counter(job.key for job in jobs).values()) == {1}
    assert len(jobs) == (repeats + warmup) * cases * stacks
    rounds = [jobs[i : i + stacks] for i in range(0, len(jobs), stacks)]
    # The stacks of a case run next to one another, and another one is first each time.
    assert all(len({(job.case, job.repeat, job.warmup) for job in each}) == 1 for each in rounds)
    firsts = [rounds[i][0].stack for i in range(0, len(rounds), cases)]
    assert stacks == 1 or all(a != b for a, b in itertools.pairwise(firsts))
    assert [job.warmup for job in jobs] == sorted((job.warmup for job in jobs), reverse=True)


def _about(options: Options) -> dict[str, Any]:
    return {"options": options.public(), "fingerprint": options.fingerprint()}


def test_results_can_be_continued_after_a_crash(tmp_path: Path) -> None:
    results = Results.create(tmp_path / "out", _about(_OPTIONS))
    results.add_sample(_good("a", "native", 0, 1.0))
    results.add_sample(_sample("a", "null", 0, error="no"))
    with (results.folder / "samples.jsonl").open("a") as file:
        file.write('{"kernel": "ior", "ca')
    again = Results.resume(results.folder, _OPTIONS)
    assert again.done() == {("ior", "a", "native", 1, 0, False)}
    again.add_sample(_good("a", "null", 0, 2.0))
    assert len(again.samples()) == 2
    assert not any("error" in sample for sample in again.samples())


def test_results_are_not_continued_with_other_options(tmp_path: Path) -> None:
    config = tmp_path / "my.ini"
    config.write_text("steps = 1")
    options = replace(_OPTIONS, arguments=(str(config),))
    folder = Results.create(tmp_path / "out", _about(options)).folder
    Results.resume(folder, replace(options, repeats=9))
    with pytest.raises(ResultsError, match="sync was none, is close"):
        Results.resume(folder, replace(options, sync="close"))
    config.write_text("steps = 2")
    with pytest.raises(ResultsError, match="has changed"):
        Results.resume(folder, options)
    with pytest.raises(ResultsError, match="--resume"):
        Results.create(folder, _about(options))
    with pytest.raises(ResultsError, match=r"has no run\.json"):
        Results.open(tmp_path / "nowhere")


def test_a_damaged_line_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    results = Results.create(tmp_path, _about(_OPTIONS))
    (tmp_path / "samples.jsonl").write_text('{"kernel"\n{}\n')
    with pytest.raises(ResultsError, match="line 1"):
        results.samples()


def test_a_full_disk_is_an_error_that_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").symlink_to("/dev/full")
    with pytest.raises(ResultsError, match=r"No space left on device.*--resume"):
        append_line(tmp_path / "samples.jsonl", {"a": 1})
    (tmp_path / "x.partial").symlink_to("/dev/full")
    with pytest.raises(ResultsError, match="No space left on device"):
        write_text(tmp_path / "x", "text")
    assert not (tmp_path / "x").exists()


def test_no_failed_sample_is_hidden() -> None:
    samples = [
        _good("a", "native", 0, 1.0),
        _good("a", "null", 0, 2.0),
        _sample("a", "null", 1, error="no such dataset"),
        _sample("b", "native", 0, error="HDF5 fell back to native"),
        _sample("c", "native", 0, missing="pip install c"),
    ]
    rows = {(row.case, row.stack): row for row in summary.rows(samples)}
    assert rows["a", "null"].count == 1
    assert rows["a", "null"].errors == ("no such dataset",)
    assert rows["b", "native"].sides == {}
    assert rows["c", "native"].missing == "pip install c"
    assert len(summary.failures(rows.values(), [])) == 2
    ratio = rows["a", "null"].sides["write"].ratio
    assert ratio is not None
    assert ratio.median == 0.5
    table = list(csv.DictReader(io.StringIO(tables.to_csv(samples))))
    assert [row["error"] for row in table] == [each.get("error", "") for each in samples]
    assert table[0]["write_max_s"] == "1.0"
    assert table[0]["bytes_file"] == "1100"
    document = json.loads(tables.to_json({}, list(rows.values()), samples))
    assert len(document["summary"]) == 4
    assert len(document["samples"]) == 5


def test_warm_up_is_not_counted() -> None:
    warm = _good("a", "native", 0, 9.0) | {"warmup": True}
    (row,) = summary.rows([warm, _good("a", "native", 0, 1.0)])
    assert row.sides["write"].seconds.most == 1.0


def test_ledgers_are_divided_by_the_payload() -> None:
    counts = {"calls": 3, "requests": 4, "bytes": 3000, "seeks": 1, "metadata_requests": 1}
    ledger = {"reads": counts, "writes": counts}
    record = _sample("a", "native", 0, ledger=ledger)
    (row,) = summary.rows([_good("a", "native", 0, 1.0)], [record])
    assert row.ledger is not None
    assert row.ledger["writes"]["amplification"] == 3.0
    assert row.ledger["writes"]["metadata_share"] == 0.25
    assert row.ledger["reads"]["amplification"] is None


def test_results_tell_nothing_of_whose_machine_it_is(tmp_path: Path) -> None:
    home = Path.home()
    options = replace(_OPTIONS, hdf5=home / "lib/libhdf5.so", data=home / "data",
                      arguments=(f"{home}/my.ini", "--block", "4Mi"),
                      mpiexec=("/opt/mpi/bin/mpiexec", "--oversubscribe"))  # fmt: skip
    public = json.dumps(options.public())
    assert str(home) + "/" not in public
    assert "/opt" not in public
    assert "libhdf5.so" in public
    text = f"{tmp_path}/a.partial/data.h5: no /usr/lib/x/libz.so, see and/or {home}/x"
    shown = without_folders(text, tmp_path)
    assert shown.startswith("DATA/a.partial/data.h5: no \N{HORIZONTAL ELLIPSIS}/libz.so")
    assert str(home) + "/" not in shown
    assert "and/or" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("model(summary=/home/x/s.json)", "model(summary=s.json)"),
        ('null+model(a=1,f="/home/my name/s,1.json")', 'null+model(a=1,f="s,1.json")'),
        ("model(bandwidth=100MiB/s,shared=~/me/s)", "model(bandwidth=100MiB/s,shared=s)"),
        ("trace(file='../me/t')+null", "trace(file='t')+null"),
        ("vol(url=https://me@host/bucket)", "vol(url=https://\N{HORIZONTAL ELLIPSIS}/bucket)"),
    ],
)
def test_stacks_are_shown_without_folders(text: str, shown: str) -> None:
    assert privacy.stack(text) == shown


def test_stacks_that_look_alike_keep_names_of_their_own() -> None:
    given = ("native", "model(summary=/a/s)", "model(summary=/b/s)")
    assert stacks.shown(given) == {
        "native": "native", "model(summary=s)": given[1], "model(summary=s) (2)": given[2],
    }  # fmt: skip
    public = replace(_OPTIONS, stacks=given).public()
    assert "/" not in json.dumps(public["stacks"])


def test_the_command_is_shown_as_given_without_folders() -> None:
    words = ["headrace", "bench", "iotest", "/home/x/my.ini", "--only", "2d*", "--warmup", "0",
             "--out=/home/x/o", "--stack", "native,model(summary=/home/x/s)",
             "--mpiexec", "/opt/mpi/bin/mpiexec --host node1,node2"]  # fmt: skip
    shown = privacy.command(words)
    assert shown == (
        "headrace bench iotest my.ini --only '2d*' --warmup 0 --out=o "
        "--stack 'native,model(summary=s)' --mpiexec 'mpiexec --host \N{HORIZONTAL ELLIPSIS}'"
    )


def test_results_are_not_put_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "samples.csv").write_text("a user's")
    with pytest.raises(ResultsError, match=r"not empty: it holds samples\.csv"):
        Results.create(tmp_path, _about(_OPTIONS))
    assert [each.name for each in tmp_path.iterdir()] == ["samples.csv"]


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"kernel": 1}, "kernel is not a text"),
        ({"ranks": "two"}, "ranks is not a whole number"),
        ({"write_wall": "long"}, "write_wall is not a number"),
        ({"write_wall": float("nan")}, "write_wall is not a number"),
        ({"bytes": [1]}, "bytes is not a table"),
        ({"bytes": {"written": "x"}}, r"bytes\.written is not a number"),
        ({"phases": {"write": 1.0}}, r"phases\.write\.max is not"),
        ({"ledger": {"reads": {}}}, r"ledger\.writes is not a table"),
    ],
)
def test_what_is_no_sample_is_named(tmp_path: Path, more: dict[str, Any], wrong: str) -> None:
    results = Results.create(tmp_path / "out", _about(_OPTIONS))
    results.add_sample(_good("a", "native", 0, 1.0))
    results.add_sample(_good("a", "native", 1, 1.0) | more)
    with pytest.raises(ResultsError, match=f"line 2: not of headrace bench: {wrong}"):
        results.samples()


def test_a_reason_is_what_headrace_bench_says() -> None:
    launcher = ["-" * 40, "mpiexec noticed that a process ended.", "See the manual.", "-" * 40]
    said = ["headrace-bench: ior, a: no space", "headrace-bench: ior, a: no space", *launcher]
    assert Outcome(1, "\n".join(said), []).reason() == "ior, a: no space"
    usage = ["The following argument was not expected: --x", *launcher]
    assert Outcome(2, "\n".join(usage), []).reason() == usage[0]


@pytest.mark.parametrize("name", ["file_system", "device", "hdf5_bytes", "hdf5_modified"])
def test_results_of_other_places_are_not_mixed(tmp_path: Path, name: str) -> None:
    library = Library(tmp_path / "libhdf5.so", "2.0.0", parallel=False)
    library.file.touch()
    now = place.describe(tmp_path, tmp_path / "out", library)
    assert str(tmp_path) not in json.dumps(now)
    place.check(tmp_path, now, now)
    with pytest.raises(ResultsError, match="cannot be resumed, results would be mixed"):
        place.check(tmp_path, now | {name: "other"}, now)
    with pytest.raises(ResultsError, match="--dir"):
        place.check(tmp_path, place.describe(tmp_path / "..", tmp_path / "out", library), now)


@pytest.mark.parametrize(
    ("kernels", "words", "refused"),
    [
        (["ior"], ["--keep"], "--keep cannot be passed on"),
        (["ior"], ["--mpi=yes"], "--mpi cannot be passed on"),
        (["ior"], ["--list"], "--list cannot be passed on"),
        (["iotest"], ["--csv=/x/a.csv"], "--csv cannot be passed on"),
        (["iotest", "peers"], ["--restart", "1"], "--resume DIR"),
        (["peers"], ["--no-read"], "the peers understand only"),
        (["peers"], ["--steps", "0"], "--steps 0: expected a number above 0"),
        (["peers"], ["--steps"], "expected a number above 0 after it"),
    ],
)
def test_arguments_that_make_no_sense(kernels: list[str], words: list[str], refused: str) -> None:
    with pytest.raises(ArgumentError, match=refused):
        arguments.check(kernels, words)


def test_arguments_that_are_passed_on() -> None:
    arguments.check(["h5py"], ["--list", "5", "--no-read"])
    arguments.check(["peers"], ["--steps=2", "--rows", "3"])
    assert arguments.peers_shape(["--steps=2", "--rows", "3"]) == {"--steps": "2", "--rows": "3"}
    # Of an INI file too, the last one counts.
    off = ["--csv-file", "", "--restart", "0"]
    assert arguments.for_kernel("iotest", ["iotest"], ["a.ini"], quick=False)[-4:] == off
    assert arguments.for_kernel("ior", ["ior"], ["--x"], quick=False) == ["--x"]


@pytest.mark.parametrize("data", [["--data", "maps"], ["--data=maps"]])
def test_of_all_kernels_only_e3sm_gets_its_data(data: list[str]) -> None:
    words = ["--x", *data, "--y"]
    both = ("ior", "e3sm")
    assert arguments.for_kernel("e3sm", both, words, quick=False) == words
    assert arguments.for_kernel("ior", both, words, quick=False) == ["--x", "--y"]
    assert arguments.for_kernel("ior", ("ior",), words, quick=False) == words


def test_quick_sizes_give_way_to_those_of_the_user() -> None:
    quick = arguments.for_kernel("ior", ["ior"], ["--block=64Ki"], quick=True)
    assert quick == ["--block=64Ki", "--transfer", "1Mi"]


def test_the_machine_is_described(tmp_path: Path) -> None:
    facts = machine.describe(tmp_path)
    assert facts["free_bytes"] > 0
    assert facts["file_system"] != "unknown"
    assert facts["cores"] > 0
    assert "server=" not in facts["mount_options"]
    assert json.dumps(facts)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (units.size(0), "0 B"),
        (units.size(1536), "1.50 KiB"),
        (units.rate(3 * 2**30), "3.00 GiB/s"),
        (units.seconds(0.02), "20.0 ms"),
        (units.seconds(90), "90.0 s"),
        (units.seconds(5e-7), "0.500 µs"),
        (units.times(1.25), "\N{MULTIPLICATION SIGN}1.25"),
        (units.count(1234567), "1\u202f234\u202f567"),
    ],
)
def test_numbers_for_people(text: str, shown: str) -> None:
    assert text == shown
