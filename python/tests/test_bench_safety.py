"""Signals at any moment, and what a run must not touch, mix or lose."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import PROGRAMS, clean_environment
from test_bench_run import Bench
from test_bench_run import bench as bench  # noqa: PLC0414, fixtures
from test_bench_run import bench_site as bench_site  # noqa: PLC0414

from headrace.bench import child, interrupt
from headrace.bench.interrupt import Interrupted

_QUICK = ["ior", "--quick", "--no-ledger", "--only", "independent"]


def _started(program: str, site: Path, folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-P", str(PROGRAMS / program), "bench", *words],
        env=clean_environment() | {"PYTHONPATH": str(site), "COLUMNS": "200"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_tables_are_made(
    bench: Bench, bench_site: Path, fake_hdf5: Path, tmp_path: Path, number: int
) -> None:
    words = [*_QUICK, "--hdf5", str(fake_hdf5), "--out", "out"]
    with _started("slow_report.py", bench_site, tmp_path, *words) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "rendering").exists() and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"continue with: headrace bench report {tmp_path}/out" in errors
    assert "Traceback" not in errors
    assert (tmp_path / "out/samples.csv").exists()
    assert bench("report", "out").returncode == 0


def test_a_figure_that_fails_costs_no_results(
    bench_site: Path, fake_hdf5: Path, tmp_path: Path
) -> None:
    words = [*_QUICK, "--hdf5", str(fake_hdf5), "--out", "out"]
    with _started("broken_report.py", bench_site, tmp_path, *words) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no HTML: RuntimeError: no figure" in errors
    assert (tmp_path / "out/samples.csv").exists()
    assert (tmp_path / "out/results.json").exists()


def test_signals_wait_where_they_would_do_harm() -> None:
    seen = []

    def work() -> None:
        with interrupt.held():
            os.kill(os.getpid(), signal.SIGTERM)
            seen.append("whole")

    with interrupt.by_signals():
        with pytest.raises(Interrupted):
            work()
        # What follows puts things in order and is not disturbed.
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.count() == 2
        interrupt.rearm()
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)
    assert seen == ["whole"]


def test_no_child_is_left_by_a_signal_while_it_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            started.append(self)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("subprocess.Popen", Popen)
    with interrupt.by_signals(), pytest.raises(Interrupted):
        child.run(["sleep", "60"], os.environ, tmp_path / "samples")
    assert started[0].returncode == -signal.SIGTERM


def test_folders_of_the_user_stay(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = bench(*_QUICK, "--dir", "mine")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine").is_dir()


def test_folders_of_the_user_are_not_called_removable(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine/thesis.partial").mkdir(parents=True)
    done = bench(*_QUICK, "--dir", "mine")
    assert (done.returncode, done.stderr) == (0, "")


def test_folders_made_for_the_data_are_removed(bench: Bench, tmp_path: Path) -> None:
    assert bench(*_QUICK, "--dir", "new/deep").returncode == 0
    assert not (tmp_path / "new").exists()


def test_no_result_is_put_among_other_files(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/report.html").write_text("a user's")
    done = bench(*_QUICK)
    assert done.returncode == 2
    assert "is not empty: it holds report.html" in done.stderr
    assert (tmp_path / "out/report.html").read_text() == "a user's"
    assert not (tmp_path / "out/data").exists()


def test_a_run_goes_on_only_where_it_began(bench: Bench, tmp_path: Path) -> None:
    assert bench(*_QUICK).returncode == 0
    done = bench(*_QUICK, "--resume", "out", "--dir", "elsewhere")
    assert done.returncode == 2
    assert "results would be mixed: --dir was '', is 'elsewhere'" in done.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_no_case_of_such_a_name(bench: Bench, tmp_path: Path) -> None:
    done = bench("ior", "--only", "colective")
    assert done.returncode == 2
    assert "did you mean collective? Existing: collective, independent." in done.stderr
    assert not (tmp_path / "out").exists()


def test_of_all_kernels_one_that_cannot_be_run_is_left_out(bench: Bench, tmp_path: Path) -> None:
    only = ["--only", "independent", "--quick", "--no-ledger", "--no-baseline"]
    done = bench("all", *only)
    assert done.returncode == 0, done.stderr
    assert "h5py (all): left out: no such kernel; `headrace bench h5py` runs it" in done.stdout


def test_reading_can_be_left_out(bench: Bench, tmp_path: Path) -> None:
    done = bench(*_QUICK, "--no-read")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "out/results.json").read_text())["summary"]
    assert list(row["sides"]) == ["write"]


def test_options_of_layers_are_published_without_folders(bench: Bench, tmp_path: Path) -> None:
    stacks = f"native,model(summary={tmp_path}/secret/s.json)"
    done = bench(*_QUICK, "--stack", stacks, "--warmup", "0")
    assert "model(summary=s.json)" in done.stdout
    for name in ("run.json", "samples.jsonl", "samples.csv", "results.json", "report.html"):
        text = (tmp_path / "out" / name).read_text()
        assert "model(summary=s.json)" in text
        assert "secret" not in text
    command = json.loads((tmp_path / "out/run.json").read_text())["command"]
    assert "--only independent" in command
    assert "--warmup 0" in command


def test_the_place_of_the_report_is_checked_first(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for page, message in ((".", "this is a folder"), ("file/r.html", "no folder")):
        done = bench(*_QUICK, "--report", page)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (tmp_path / "out").exists()


def test_what_is_no_sample_is_an_error_in_words(bench: Bench, tmp_path: Path) -> None:
    assert bench(*_QUICK).returncode == 0
    (tmp_path / "out/samples.jsonl").write_text('{"kernel": "ior"}\n')
    done = bench("report", "out")
    assert done.returncode == 2
    assert "samples.jsonl, line 1: not of headrace bench: case is not a text" in done.stderr
    assert "Traceback" not in done.stderr
