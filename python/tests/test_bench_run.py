"""`headrace bench` from the options to the tables, on a program that passes for headrace-bench."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from support import DESCRIPTION, Compiler, clean_environment, described, run_from

_FAKE = Path(__file__).with_name("fake_headrace_bench.py")
_PEER_SHAPE = ["--steps", "3", "--arrays", "2", "--rows", "5", "--columns", "7"]
_MPIEXEC = '#!/bin/sh\nranks=$2; shift 2\nPMI_SIZE=$ranks exec "$@"\n'

Bench = Callable[..., subprocess.CompletedProcess[Any]]


@pytest.fixture(scope="session")
def bench_site(fake_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up plug-ins with a layer that counts, and the program."""
    site = Path(shutil.copytree(fake_site, tmp_path_factory.mktemp("bench") / "site"))
    description = deepcopy(DESCRIPTION)
    (delay,) = (row for row in description["settings"] if row["layer"] == "model")
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("mode", "choice", {"choices": ["count", "predict"]}),
        ("summary", "path", {}),
    ]
    for option, kind, more in kinds:
        names = {"option": option, "env": f"HEADRACE_MODEL_{option.upper()}"}
        row = delay | names | {"python": f"model_{option}", "type": kind, "default": ""} | more
        description["settings"].append(row)
    compiler = Compiler()
    compiler(site / "headrace/lib/libheadrace_core.so", *described(description))
    program = site / "headrace/bin/headrace-bench"
    shutil.rmtree(program.parent, ignore_errors=True)
    program.parent.mkdir()
    # -S: it needs nothing of what is installed, and starts in half the time.
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {_FAKE} "$@"\n')
    program.chmod(0o755)
    return site


@pytest.fixture
def bench(bench_site: Path, fake_hdf5: Path, tmp_path: Path) -> Bench:
    """Runs `headrace bench ARGUMENTS` in an empty folder; results go to `out` there."""

    def run(*arguments: str, fake: str = "", **more: Any) -> subprocess.CompletedProcess[Any]:
        environ = {"BENCH_FAKE": fake} | more.pop("env", {})
        where = [] if {"--resume", "report"} & {*arguments} else ["--out", "out"]
        library = [] if "--hdf5" in arguments else ["--hdf5", str(fake_hdf5)]
        words = ["bench", *arguments, *where, *library]
        return run_from(bench_site, *words, env=environ, cwd=tmp_path, **more)

    return run


def _samples(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "out/samples.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_whole_run(bench: Bench, tmp_path: Path) -> None:
    copy = tmp_path / "copy/report.html"
    options = ["--stack", "native,null", "--repeats", "2", "--report", str(copy)]
    done = bench("ior", *options, "--block", "4Mi")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    samples = _samples(tmp_path)
    assert [(s["case"], s["stack"], s["repeat"]) for s in samples if not s["warmup"]] == [
        ("independent", "native", 0),
        ("independent", "null", 0),
        ("collective", "native", 0),
        ("collective", "null", 0),
        ("independent", "null", 1),
        ("independent", "native", 1),
        ("collective", "null", 1),
        ("collective", "native", 1),
    ]
    assert sum(s["warmup"] for s in samples) == 4
    assert {(s["stack"], s["connector"]) for s in samples} == {
        ("native", "native"),
        ("null", "headrace_null"),
    }
    assert all("/" not in s["library"] for s in samples)
    assert {s["rounds"] for s in samples} == {3}  # it was asked to go on for long enough
    table = list(csv.DictReader((tmp_path / "out/samples.csv").read_text().splitlines()))
    assert len(table) == 12
    summary = json.loads((tmp_path / "out/results.json").read_text())["summary"]
    native, null = summary[0], summary[1]
    assert null["sides"]["write"]["ratio"]["median"] == pytest.approx(2, abs=0.02)
    assert native["sides"]["write"]["raw"] == 0.25
    assert null["ledger"]["writes"]["amplification"] == 2
    assert copy.read_text() == (tmp_path / "out/report.html").read_text()
    assert "collective" in copy.read_text()
    assert "collective" in done.stdout
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        "ledgers.jsonl", "report.html", "results.json", "run.json", "samples.csv", "samples.jsonl",
    ]  # fmt: skip
    about = json.loads((tmp_path / "out/run.json").read_text())
    assert about["complete"] is True
    assert about["options"]["arguments"] == ["--block", "4Mi"]
    assert str(tmp_path) not in json.dumps(about)

    (tmp_path / "out/report.html").unlink()
    again = bench("report", "out")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out/report.html").read_text() == copy.read_text()


def test_what_fails_is_said_and_tried_again(bench: Bench, tmp_path: Path) -> None:
    options = ["ior", "--stack", "native,null", "--quick", "--no-ledger"]
    done = bench(*options, fake="fail=collective")
    assert done.returncode == 1
    assert "failed: ior collective, native: DATA/ior-collective.partial/data.h5: no" in done.stderr
    assert "no space" in (tmp_path / "out/report.html").read_text()
    assert len(_samples(tmp_path)) == 4
    done = bench(*options, "--resume", "out")
    assert done.returncode == 0, done.stderr
    # The two that were good are not measured again.
    assert len(_samples(tmp_path)) == 6
    assert "no space" not in (tmp_path / "out/report.html").read_text()
    assert not (tmp_path / "out/ledgers.jsonl").exists()
    other = bench(*options, "--sync", "close", "--resume", "out")
    assert other.returncode == 2
    assert "sync was none, is close" in other.stderr


@pytest.mark.parametrize(
    ("fake", "stack", "error"),
    [
        ("fallback", "null", "HDF5 fell back to native"),
        ("", "null(seat=vfd)", "no file went through the driver of null"),
        ("crash=independent", "native", "ended by SIGSEGV"),
        ("silent", "native", "wrote 0 samples instead of one"),
        ("unverified", "native", "not verified"),
        ("others", "native", "it ran on 7 ranks"),
    ],
)
def test_no_figure_without_proof(
    bench: Bench, tmp_path: Path, fake: str, stack: str, error: str
) -> None:
    only = ["--only", "independent", "--quick", "--no-ledger"]
    done = bench("ior", "--stack", stack, *only, fake=fake)
    assert done.returncode == 1
    assert error in done.stderr
    (sample,) = _samples(tmp_path)
    assert error in sample["error"]


def test_a_driver_is_proven_by_its_report(bench: Bench, bench_site: Path, tmp_path: Path) -> None:
    event = {"event": "file", "seat": "vfd", "name": "headrace_null", "pid": 1,
             "call": "open", "file": "data.h5", "ok": True}  # fmt: skip
    program = tmp_path / "reporting"
    real = bench_site / "headrace/bin/headrace-bench"
    write = f"[ -z \"$HEADRACE_REPORT\" ] || echo '{json.dumps(event)}' > $HEADRACE_REPORT"
    program.write_text(f'#!/bin/sh\n{write}\nexec {real} "$@"\n')
    program.chmod(0o755)
    only = ["--only", "independent", "--quick", "--no-ledger", "--program", str(program)]
    done = bench("ior", "--stack", "null(seat=vfd)", *only)
    assert done.returncode == 0, done.stderr


def test_an_interrupted_run_can_be_continued(
    bench: Bench, bench_site: Path, fake_hdf5: Path, tmp_path: Path
) -> None:
    call = "from headrace.cli import app; app(prog_name='headrace')"
    options = ["bench", "ior", "--quick", "--no-ledger", "--hdf5", str(fake_hdf5)]
    environ = clean_environment() | {
        "PYTHONPATH": str(bench_site),
        "BENCH_FAKE": "wait=collective",
        "COLUMNS": "200",
    }
    command = [sys.executable, "-P", "-c", call, *options, "--out", "out"]
    mark = tmp_path / "out/data/ior-collective.partial/waiting"
    with subprocess.Popen(
        command,
        env=environ,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + 60
        while not mark.exists() and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "independent" in output
    assert f"partial, can be removed: {mark.parent}" in errors
    assert f"--resume {tmp_path}/out" in errors
    assert "--out out" not in errors
    assert "interrupted" in (tmp_path / "out/report.html").read_text()
    samples = _samples(tmp_path)
    assert [sample.get("error") for sample in samples] == [None, "interrupted"]
    assert samples[1]["partial"] == "DATA/ior-collective.partial"
    shutil.rmtree(mark.parent)
    done = bench("ior", "--quick", "--no-ledger", "--resume", "out")
    assert done.returncode == 0, done.stderr
    assert len(_samples(tmp_path)) == 3


def test_several_numbers_of_ranks(bench: Bench, compiler: Compiler, tmp_path: Path) -> None:
    library = compiler.hdf5(tmp_path / "libhdf5.so", "1.14.5", "-DPARALLEL")
    launcher = tmp_path / "launch"
    launcher.write_text(_MPIEXEC)
    launcher.chmod(0o755)
    given = ["--hdf5", str(library), "--mpiexec", str(launcher), "--np", "1,2"]
    done = bench("ior", "--only", "independent", "--quick", "--no-ledger", *given)
    assert done.returncode == 0, done.stderr
    assert [sample["ranks"] for sample in _samples(tmp_path)] == [1, 2]
    assert "Scaling" in (tmp_path / "out/report.html").read_text()


def test_the_peers_alone(bench: Bench, tmp_path: Path) -> None:
    given = ["--quick", "--no-ledger", "--no-baseline", "--only", "p*-contiguous"]
    done = bench("peers", *_PEER_SHAPE, *given)
    assert done.returncode == 0, done.stderr
    (sample,) = _samples(tmp_path)
    assert (sample["case"], sample["parameters"]["columns"]) == ("posix-contiguous", 7)
    # There is none in the made-up installation.
    assert "pnetcdf-contiguous: not installed: headrace-bench-pnetcdf" in done.stdout
    assert "libpnetcdf-dev" in (tmp_path / "out/report.html").read_text()


def test_a_kernel_that_does_not_list_its_cases_is_a_failed_row(
    bench: Bench, tmp_path: Path
) -> None:
    done = bench("cgns", "--quick")
    assert done.returncode == 1
    assert "failed: cgns (all), native: no such kernel" in done.stderr
    assert "no such kernel" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iotset"], "did you mean iotest?"),
        (["ior", "--stack", "nul"], "did you mean null?"),
        (["ior", "--stack", "native,"], "expected stacks such as"),
        (["ior", "--np", "0"], "--np 0: expected numbers"),
        (["ior", "--np", "2"], "is a serial build; more than one rank needs a parallel one"),
        (["ior", "--hdf5", "/no/libhdf5.so"], "there is no such file"),
        (["ior", "--sync", "always"], "expected none or close"),
        (["ior", "--program", "/no/headrace-bench"], "headrace-bench is not there"),
        (["ior", "--mpiexec", "no-such-launcher"], "--mpiexec no-such-launcher: command not found"),
        (["ior", "--keep"], "--keep cannot be passed on to headrace-bench"),
        (["report"], "expected the folder of one run"),
        (["report", "nowhere"], "nowhere holds no results"),
        (["ior", "--resume", "nowhere"], "nowhere holds no results"),
        (["ior", "--dir", "/proc/x"], "/proc/x cannot be made"),
    ],
)
def test_wrong_usage(bench: Bench, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
