"""`headrace run --stats`: the sums of what the layers tell, and a child as good as the program."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from support import PROGRAMS, Headrace, clean_environment

from headrace.statistics import summed, table

_TELL = (sys.executable, str(PROGRAMS / "tells_statistics.py"))


def test_the_layers_numbers_are_added_up(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--stats", "--", *_TELL)
    assert (done.returncode, done.stdout) == (0, "")
    words = done.stderr.split()
    assert words == ["x", "files", "2", "written", "2.00", "MiB", "n", "1"]


def test_a_report_of_the_users_is_kept_and_its_old_lines_are_not_counted(
    fake_headrace: Headrace, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    environ = {"HEADRACE_REPORT": str(report)}
    command = ("run", "--stats", "--", *_TELL)
    first = fake_headrace(*command, env=environ)
    assert fake_headrace(*command, env=environ).stderr == first.stderr
    assert len(report.read_text().splitlines()) == 4


def test_a_report_that_cannot_be_read_back(fake_headrace: Headrace) -> None:
    environ = {"HEADRACE_REPORT": "/dev/null"}
    done = fake_headrace("run", "--stats", "--", "echo", env=environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert "/dev/null: HEADRACE_REPORT must name an ordinary file" in done.stderr


def test_that_nothing_was_told_is_said(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--stats", "--", "true")
    assert done.returncode == 0
    assert "no layer told statistics" in done.stderr


@pytest.mark.parametrize("status", [0, 3])
def test_the_exit_status_is_the_programs(fake_headrace: Headrace, status: int) -> None:
    done = fake_headrace("run", "--stats", "--", "sh", "-c", f"exit {status}")
    assert done.returncode == status


@pytest.mark.parametrize("name", ["KILL", "SEGV", "TERM"])
def test_so_is_the_signal_that_ends_it(fake_headrace: Headrace, name: str) -> None:
    done = fake_headrace("run", "--stats", "--", "sh", "-c", f"kill -{name} $$")
    assert done.returncode == -signal.Signals[f"SIG{name}"]


def test_a_program_that_is_not_there_is_named(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--stats", "--", "no-such-program")
    assert done.returncode == 127
    assert "no-such-program: command not found" in done.stderr


def test_signals_reach_the_program(fake_site: Path) -> None:
    environ = clean_environment() | {"PYTHONPATH": str(fake_site)}
    call = "from headrace.cli import app; app()"
    program = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    command = [sys.executable, "-P", "-c", call, "run", "--stats", "--", "sh", "-c", program]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "got it\n"
    assert process.returncode == 5


def test_overlap_and_merging_are_worked_out() -> None:
    counts = Counter(writes=1000, writes_behind=10, workers_ns=4, workers_beside_the_program_ns=3)
    console = Console(width=60)
    with console.capture() as shown:
        console.print(table({"headrace_x": counts}))
    lines = [" ".join(line.split()) for line in shown.get().splitlines()]
    assert lines[-2:] == ["writes merged 990", "overlap 75% of the workers' time"]


def test_datasets_are_counted_apart_from_files(tmp_path: Path) -> None:
    report = tmp_path / "report"
    line = {"event": "statistics", "name": "headrace_x", "file": "f", "values": {"writes": 2}}
    lines = [line, line | {"dataset": "/a"}, line | {"dataset": "/b"}]
    report.write_text("\n".join(map(json.dumps, lines)))
    assert summed(report) == {"headrace_x": Counter(files=1, datasets=2, writes=6)}


def test_halves_of_lines_and_other_events_are_left_out(tmp_path: Path) -> None:
    report = tmp_path / "report"
    good = {
        "event": "statistics",
        "name": "headrace_x",
        "file": "f",
        "values": {"blocked_ns": 2_000_000},
    }
    lines = [json.dumps({"event": "load", "name": "y"}), json.dumps(good), '{"event": "stat']
    report.write_text(os.linesep.join(lines))
    totals = summed(report)
    assert totals == {"headrace_x": Counter(files=1, blocked_ns=2_000_000)}
    console = Console(width=60)
    with console.capture() as shown:
        console.print(table(totals))
    assert shown.get().split() == ["x", "files", "1", "blocked", "2.00", "ms"]
