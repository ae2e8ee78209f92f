"""The search, on programs whose times are known, and what it writes."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from harness.stack import CLEAN

from headrace.cli.tune import search as tune_search
from headrace.errors import ConfigError, FileError
from headrace.measuring.stats import Ratio
from headrace.trace.model.reader import read
from headrace.trace.replay.choices import Choices
from headrace.tune import confirm, known, space, written
from headrace.tune.budget import Budget, OverError
from headrace.tune.differing import differing
from headrace.tune.runs import Runs
from headrace.tune.search import search
from headrace.tune.space import NATIVE, Candidate, Setting

TUNE, ASYNC, LOG = Setting("tune"), Setting("async"), Setting("log")
SIEVE = Setting("tune", "sieve", "1MiB")
HEADRACE = Path(sys.executable).with_name("headrace")


def seconds(candidate: Candidate) -> float:
    """A program that gains by two settings, loses by one and does not care for others."""
    gain = {TUNE: 0.3, SIEVE: 0.4, LOG: -0.5}
    return 2.0 - sum(gain.get(each, 0.0) for each in candidate)


def noisy() -> Callable[[Candidate], float]:
    """The same with a spread of 2 %, that is the same in each test."""
    drift = itertools.cycle((0.98, 1.01, 0.99, 1.02, 1.0, 0.985, 1.015))
    return lambda candidate: seconds(candidate) * next(drift)


def test_the_search_finds_the_best() -> None:
    found = search(Runs(seconds, Budget(60)), space.KNOBS, lambda _: None)
    trials, best = found.trials, found.best
    assert trials[0].candidate == NATIVE
    assert {TUNE, SIEVE} <= best.candidate
    assert LOG not in best.candidate
    assert len({each.candidate for each in trials}) == len(trials) < 60


class Clock:
    """Runs take the time that they are said to take, and nothing else takes any."""

    def __init__(self, took: Callable[[Candidate], float] = seconds) -> None:
        self.now = 0.0
        self._took = took

    def __call__(self) -> float:
        return self.now

    def measure(self, candidate: Candidate) -> float:
        took = self._took(candidate)
        self.now += took
        return took


@pytest.mark.parametrize("budget", [1, 2, 8, 14, 30, 100, 1000])
def test_a_budget_bounds_all(budget: int) -> None:
    """But for the run that it ends in, which `Replays` ends."""
    clock = Clock()
    runs = Runs(clock.measure, Budget(budget, clock))
    found = search(runs, space.KNOBS, lambda _: None)
    made = confirm.confirm(runs, found.best.candidate, lambda *_: None)
    assert clock.now <= budget + 2.5
    if budget >= 30:
        assert made.candidate
        assert made.gain.verdict == "faster"


def test_no_time_for_native_hdf5() -> None:
    with pytest.raises(OverError):
        search(Runs(seconds, Budget(0)), space.KNOBS, lambda _: None)


def test_a_run_that_the_budget_ends_counts_for_nothing() -> None:
    clock = Clock()

    def measure(candidate: Candidate) -> float:
        if clock.now + seconds(candidate) > 8:
            raise OverError
        return clock.measure(candidate)

    runs = Runs(measure, Budget(12, clock))
    assert len(search(runs, space.KNOBS, lambda _: None).trials) == 2
    assert confirm.compare(runs, NATIVE, frozenset({TUNE, SIEVE})).pairs == 1


@pytest.mark.parametrize("helps", [{ASYNC}, {TUNE, ASYNC}, {TUNE, ASYNC, LOG}, {TUNE}, {LOG}])
def test_a_small_budget_finds_what_gains_much(helps: Candidate) -> None:
    """What is most likely to gain is tried first, and whole stacks, while there is time."""
    clock = Clock(lambda candidate: 0.2 if helps <= candidate else 1.0)
    runs = Runs(clock.measure, Budget(24, clock))
    found = search(runs, space.KNOBS, lambda _: None)
    made = confirm.confirm(runs, found.best.candidate, lambda *_: None)
    assert helps <= made.candidate
    assert made.gain.verdict == "faster"
    assert made.gain.median == pytest.approx(5)


@pytest.mark.parametrize(("budget", "verdict"), [(4.5, ""), (8, "faster")])
def test_a_tiny_budget_tries_a_whole_stack(budget: float, verdict: str) -> None:
    """Before `tune` alone, which gains nothing here."""
    clock = Clock(lambda candidate: 0.2 if ASYNC in candidate else 1.0)
    runs = Runs(clock.measure, Budget(budget, clock))
    found = search(runs, space.KNOBS, lambda _: None)
    assert ASYNC in found.best.candidate
    assert confirm.confirm(runs, found.best.candidate, lambda *_: None).gain.verdict == verdict


@pytest.mark.parametrize(
    ("native", "other", "verdict"),
    [
        ((1.0, 1.1, 0.9), (0.2, 0.8, 0.3), "faster"),
        ((1.0, 1.1, 0.9), (0.2, 0.95, 0.3), ""),
        ((0.2, 0.2, 0.2), (1.0, 1.0, 1.0), "slower"),
        ((1.0, 1.0), (0.1, 0.1), ""),
    ],
)
def test_few_pairs_tell_where_all_runs_agree(
    native: tuple[float, ...], other: tuple[float, ...], verdict: str
) -> None:
    left = {NATIVE: list(native), frozenset({ASYNC}): list(other)}

    def measure(candidate: Candidate) -> float:
        if not left[candidate]:
            raise OverError
        return left[candidate].pop(0)

    made = confirm.compare(Runs(measure, Budget(60)), NATIVE, frozenset({ASYNC}))
    assert made.pairs == len(native)
    assert made.verdict == verdict


def test_one_lucky_run_is_not_enough() -> None:
    """Each candidate runs again before one is chosen."""
    seen: set[Candidate] = set()

    def lucky(candidate: Candidate) -> float:
        first = candidate not in seen
        seen.add(candidate)
        return 1.2 if candidate == {ASYNC} and first else seconds(candidate)

    found = search(Runs(lucky, Budget(60)), space.KNOBS, lambda _: None)
    assert min(found.trials, key=lambda each: each.seconds).candidate == {ASYNC}
    assert {TUNE, SIEVE} <= found.best.candidate


def test_a_budget_bounds_the_comparison() -> None:
    """What there is no time for stays, and is told."""

    def slow(candidate: Candidate) -> float:
        time.sleep(0.02)
        return seconds(candidate)

    runs = Runs(slow, Budget(0.8))
    found = confirm.confirm(runs, frozenset({TUNE, SIEVE, ASYNC, LOG}), lambda *_: None)
    assert runs.count <= 0.8 / 0.02 + 2 * confirm.PAIRS
    assert confirm.UNTOLD in found.shares.values()
    assert found.gain.verdict == "faster"
    assert found.gain.pairs >= confirm.PAIRS


def test_a_candidate_that_fails_is_told_and_not_chosen() -> None:
    def measure(candidate: Candidate) -> float:
        if ASYNC in candidate:
            raise FileError("something else is read")
        return seconds(candidate)

    found = search(Runs(measure, Budget(60)), space.KNOBS, lambda _: None)
    trials = found.trials
    failed = [each for each in trials if each.why]
    assert failed
    assert all(ASYNC in each.candidate for each in failed)
    assert ASYNC not in found.best.candidate


def test_only_what_gains_is_confirmed() -> None:
    told: list[Setting] = []
    found = confirm.confirm(
        Runs(noisy(), Budget(60)),
        frozenset({TUNE, SIEVE, ASYNC, LOG}),
        lambda setting, _: told.append(setting),
    )
    assert found.candidate == {TUNE, SIEVE}
    assert found.gain.verdict == "faster"
    assert found.gain.median == pytest.approx(2 / 1.3, rel=0.05)
    assert set(found.shares) == {TUNE, SIEVE}
    assert set(found.dropped) == {ASYNC, LOG}
    assert told.index(SIEVE) < told.index(TUNE)


def test_nothing_is_confirmed_where_nothing_gains() -> None:
    found = confirm.confirm(Runs(noisy(), Budget(60)), frozenset({ASYNC}), lambda *_: None)
    assert found.candidate == NATIVE


def test_stacks() -> None:
    assert space.stack_of(NATIVE) == "native"
    assert space.stack_of(frozenset({LOG, ASYNC, TUNE, SIEVE})) == "tune(sieve=1MiB),async,log"
    assert space.without(frozenset({TUNE, SIEVE, LOG}), TUNE) == {LOG}


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    gain = Ratio(1.5, 5, 1.2, 1.7, 0.94)
    found = confirm.Confirmed(
        frozenset({TUNE, SIEVE, ASYNC}),
        gain,
        dict.fromkeys((TUNE, SIEVE, ASYNC), gain),
        {LOG: Ratio(0.9, 9)},
    )
    about = written.About(['py"thon', "größe\\n.py"], "ext4", "2.0.0", "2026-11-27", {"calls": 0.5})
    file = tmp_path / "tuned.toml"
    written.write(file, found, about, {"log": "0.90 times as fast"})
    return file


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HEADRACE, *words], env=CLEAN, capture_output=True, text=True, check=False
    )


def test_what_is_written_is_read_and_run(tuned: Path) -> None:
    found = written.read(tuned)
    assert {each.setting for each in found.lines} == {TUNE, SIEVE, ASYNC}
    assert found.about.command == ['py"thon', "größe\\n.py"]
    shown = run("env", "--config", tuned, "--shell", "bash")
    assert shown.returncode == 0, shown.stderr
    assert f"sieve={1 << 20}" in shown.stdout
    told = run("tune", "explain", tuned).stdout
    assert "1.50 times as fast" in told
    assert "log: 0.90 times as fast" in " ".join(told.split())


def test_undo(tuned: Path) -> None:
    assert run("tune", "undo", tuned, "tune(sieve=2MiB)").returncode == 2
    assert run("tune", "undo", tuned, str(SIEVE)).returncode == 0
    assert {each.setting for each in written.read(tuned).lines} == {TUNE, ASYNC}
    assert run("tune", "undo", tuned, "tune").returncode == 0
    assert {each.setting for each in written.read(tuned).lines} == {ASYNC}
    assert run("tune", "undo", tuned).returncode == 0
    assert not tuned.exists()


@pytest.mark.parametrize("text", ["", "stack = 3", "[found]", "stack = 'null'\n[found", "\x00"])
def test_files_of_others(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"x\.toml"):
        written.read(file)


def test_other_programs_are_told_of(tuned: Path, tmp_path: Path) -> None:
    told = list(differing(tuned, ["python", "other.py"], tmp_path))
    assert "größe\\n.py, and this is other.py" in told[0]
    done = run("run", "--config", tuned, "--", "true")
    assert "and this is true" in done.stderr


def test_a_trace_without_arguments_is_refused(tmp_path: Path) -> None:
    assert run("tune", "--budget", "soon", "true").returncode == 2
    done = run("tune", "-o", tmp_path / "t.toml", "true")
    assert done.returncode != 0
    assert "opened no HDF5 file" in done.stderr


def test_options_behind_a_trace_do_no_harm(tmp_path: Path) -> None:
    trace = tmp_path / "x.hrtrace"
    trace.mkdir()
    (trace / "precious.trace").touch()
    done = run("tune", trace, "--budget", "1min")
    assert done.returncode == 2
    assert "options go before it" in " ".join(done.stderr.split())
    assert (trace / "precious.trace").exists()


def test_knobs_for_several_programs() -> None:
    """What one needs is tried; what ranks must be safe with, all of them must be."""
    serial = space.Facts(0.5, 0.0, True, 0.0, 0.0, False)
    apart = space.Facts(0.0, 0.5, True, 0.0, 0.0, True, 2, True, frozenset({"mpi_staging"}))
    mixed = space.Facts(0.0, 0.0, False, 0.0, 0.0, False, 4, False, frozenset())
    both = space.together([serial, apart])
    assert both.small_contiguous == both.metadata == 0.5
    assert both.alike
    assert both.apart == {"mpi_staging"}
    assert both.ranks == 2
    all_ = space.together([serial, apart, mixed])
    assert not all_.alike
    assert not all_.apart
    assert all_.deflated


def test_shapes_of_chunks_come_from_the_trace(tmp_path: Path) -> None:
    program = (
        "import h5py, numpy as np\n"
        "data = np.random.default_rng(1).integers(0, 9, (1000, 1000))\n"
        "with h5py.File('x.h5', 'w') as f:\n"
        "    f.create_dataset('d', data=data, dtype='i4', chunks=(1000, 1), compression=1)\n"
        "    f.create_dataset('fits', data=data, dtype='i4', chunks=(100, 1000))\n"
        "with h5py.File('x.h5') as f:\n"
        "    for i in range(0, 1000, 50): f['d'][i : i + 2], f['fits'][i : i + 2]\n"
    )
    words = ["run", "--stack", f"trace(arguments=true,output={tmp_path}/t.hrtrace)", "--"]
    done = subprocess.run(
        [HEADRACE, *words, sys.executable, "-c", program],
        env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    trace = read(tmp_path / "t.hrtrace")
    assert "chunk" not in {each.option for each in space.knobs_for([trace])}
    (knob,) = (each for each in space.knobs_for([trace], layout=True) if each.option == "chunk")
    (shape,) = knob.values
    rows, columns = map(int, shape.split("x"))
    assert 2 <= rows <= 500
    assert columns >= 100
    assert space.unreadable_by(Setting("tune", "chunk", shape)) == "nobody"


def test_no_time_in_hdf5_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import h5py; h5py.File('x.h5', 'w').close()"
    words = ["run", "--stack", f"trace(arguments=true,output={tmp_path}/t.hrtrace)", "--"]
    command: list[str | Path] = [HEADRACE, *words, sys.executable, "-c", program]
    subprocess.run(command, env=CLEAN, cwd=tmp_path, check=True)
    trace = read(tmp_path / "t.hrtrace")
    trace.processes[0].calls["duration"][:] = 1
    monkeypatch.setattr(tune_search, "read", lambda _: trace)
    wanted = tune_search.Wanted(tmp_path / "t.toml", layout=False, budget=Budget(60), wall=0.1)
    with pytest.raises((typer.Exit, SystemExit)):
        tune_search.search([tmp_path / "t.hrtrace"], tmp_path, Choices(), wanted)
    assert "headrace doctor" in " ".join(capsys.readouterr().err.split())


def test_gains_are_of_the_time_in_hdf5_and_of_the_program() -> None:
    spent = written.Spent(8.0, 10.0)
    about = written.About(["x"], "", "", "", spent=spent)
    told = written.against(about, Ratio(4.0, 5, 3.0, 5.0, 0.94))
    assert told == (
        "in HDF5 4.00 times as fast (3.00 to 5.00, 5 pairs) as native HDF5; the whole program "
        "about 2.50 times, as it was in HDF5 for 8.00 s of its 10.0 s"
    )
    modelled = written.About(["x"], "", "", "", baseline="the defaults")
    assert written.against(modelled, Ratio(4.0, 1)) == "4.00 times as fast as the defaults"


@pytest.mark.parametrize("budget", ["1s", "5s"])
def test_a_budget_that_is_over_soon(budget: str, tmp_path: Path) -> None:
    """Of all, from the start on: the program's run, what replays need, and replays."""
    program = tmp_path / "rows.py"
    program.write_text(
        "import h5py, numpy as np, time\n"
        "with h5py.File('x.h5', 'w') as f:\n"
        "    d = f.create_dataset('d', (300, 64), 'f8', chunks=(1, 64), compression=1)\n"
        "    for i in range(300): d[i] = np.random.default_rng(i).random(64); f.flush()\n"
        "    time.sleep(4)\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [HEADRACE, "tune", "--budget", budget, "--", sys.executable, program],
        env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"the budget of {budget[:-1]} s was over" in done.stderr
    assert "rows.hrtrace" in done.stderr
    assert time.monotonic() - began < 60, "10 s, and more where other tests run beside it"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".tune-")]


@pytest.mark.long
def test_a_program(tmp_path: Path) -> None:
    """From the program to a configuration, or to the word that nothing is faster."""
    program = tmp_path / "rows.py"
    program.write_text(
        "import h5py, numpy as np\n"
        "data = np.random.default_rng(1).integers(0, 9, (1500, 1024))\n"
        "with h5py.File('x.h5', 'w') as f:\n"
        "    d = f.create_dataset('d', data.shape, 'i8', chunks=data.shape, compression=1)\n"
        "    for i in range(0, 1500, 50): d[i : i + 50] = data[i : i + 50]\n"
    )
    done = subprocess.run(
        [HEADRACE, "tune", "--budget", "60s", "--", sys.executable, program],
        env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = written.read(tmp_path / "tuned.toml")
    assert {each.setting for each in found.lines} & {TUNE, ASYNC}
    (trace,) = tmp_path.glob("*.hrtrace")
    done = subprocess.run(
        [HEADRACE, "tune", "--budget", "90s", "-o", "both.toml", trace, trace],
        env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {each.setting for each in written.read(tmp_path / "both.toml").lines} & {TUNE, ASYNC}


def test_what_readers_may_notice_needs_consent(tmp_path: Path) -> None:
    page = Setting("tune", "page", "64KiB")
    assert page.option not in {knob.option for knob in space.KNOBS}
    assert space.stack_of(frozenset({TUNE, page})) == "tune(allow=layout,page=64KiB)"
    gain = Ratio(3.0, 5, 2.0, 4.0, 0.94)
    found = confirm.Confirmed(
        frozenset({TUNE, page, SIEVE}), gain, dict.fromkeys((TUNE, page, SIEVE), gain), {}
    )
    file = tmp_path / "tuned.toml"
    written.write(file, found, written.About(["x"], "", "", ""), {})
    lines = {each.setting: each.reason for each in written.read(file).lines}
    assert lines.keys() == {TUNE, page, SIEVE}
    assert "who cannot read it any more: HDF5 before 1.10.1" in lines[page]
    assert "NOTICE" not in lines[SIEVE]
    shown = run("env", "--config", file, "--shell", "bash").stdout
    assert "allow=layout" in shown
    assert "page=65536" in shown


def test_pieces_of_ranks_need_consent(tmp_path: Path) -> None:
    """But no consent of the layer tune, which need not be there."""
    pieces = [knob for knob in space.LAYOUT_KNOBS if knob.layer == "stripe"]
    assert not any(knob.layer == "stripe" for knob in (*space.KNOBS, *space.MPI_KNOBS))
    alone = space.Facts(0.0, 0.0, True, 0.0, 0.0, False)
    assert all(knob.fits(replace(alone, ranks=2)) for knob in pieces)
    assert not any(knob.fits(alone) for knob in pieces)
    candidate = frozenset({Setting("stripe"), Setting("stripe", "per", "rank")})
    assert space.stack_of(candidate) == "stripe(per=rank)"
    assert space.stack_of(candidate | {ASYNC}) == "async,stripe(per=rank)"
    gain = Ratio(3.0, 5, 2.0, 4.0, 0.94)
    found = confirm.Confirmed(candidate, gain, dict.fromkeys(candidate, gain), {})
    file = tmp_path / "tuned.toml"
    written.write(file, found, written.About(["x"], "", "", ""), {})
    lines = {each.setting: each.reason for each in written.read(file).lines}
    assert "who cannot read it any more: programs without" in lines[Setting("stripe")]
    assert "headrace_stripe" in run("env", "--config", file, "--shell", "bash").stdout


def test_ranks_that_must_keep_apart_are_checked(tmp_path: Path) -> None:
    staging = Setting("async", "mpi_staging", "true")
    candidate = frozenset({ASYNC, staging})
    assert space.stack_of(candidate) == "tune(check_ranks=true),async(mpi_staging=true)"
    gain = Ratio(3.0, 5, 2.0, 4.0, 0.94)
    found = confirm.Confirmed(candidate, gain, dict.fromkeys(candidate, gain), {})
    file = tmp_path / "tuned.toml"
    written.write(file, found, written.About(["x"], "", "", ""), {})
    assert "check_ranks=true" in run("env", "--config", file, "--shell", "bash").stdout
    assert staging in {each.setting for each in written.read(file).lines}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data/headrace/tuned.sqlite"


def test_what_was_found_for_a_program_like_it_is_tried_first(kept: Path) -> None:
    alike, other = {"calls": 0.5, "reads": 0.2}, {"calls": 0.0, "reads": 1.0}
    assert known.nearest(alike, "ext4") == NATIVE
    known.keep(other, frozenset({LOG}), "b.py", "ext4")
    assert known.nearest(alike, "ext4") == NATIVE, "nothing is like it"
    known.keep(alike, frozenset({TUNE, SIEVE}), "a.py", "ext4")
    known.keep(alike, frozenset({ASYNC}), "a.py", "lustre")
    near = {"calls": 0.52, "reads": 0.21}
    assert known.nearest(near, "ext4") == {TUNE, SIEVE}
    assert known.nearest(near, "lustre") == {ASYNC}
    assert kept.exists()
    trials = search(
        Runs(seconds, Budget(60)), space.KNOBS, lambda _: None, frozenset({TUNE, SIEVE})
    ).trials
    assert [each.candidate for each in trials[:2]] == [NATIVE, {TUNE, SIEVE}]


@pytest.mark.parametrize("damage", ["no database", "", "other values"])
def test_a_damaged_memory_is_told_of_and_does_no_harm(kept: Path, damage: str) -> None:
    known.keep({"calls": 0.5}, frozenset({TUNE}), "a.py", "ext4")
    if damage == "other values":
        with sqlite3.connect(kept) as opened:
            opened.execute("UPDATE runs SET signature = '[', settings = '{'")
    else:
        kept.write_text(damage)
    if damage:
        with pytest.raises(FileError, match=r"tuned\.sqlite"):
            known.nearest({"calls": 0.5}, "ext4")
    else:
        assert known.nearest({"calls": 0.5}, "ext4") == NATIVE


def test_rules_of_a_configuration(tmp_path: Path) -> None:
    """The command line looks at them before a program starts."""
    file = tmp_path / "x.toml"
    file.write_text('stack = "tune"\n[[rules]]\nfile = "*.nc"\nsieve = "1MiB"\n')
    assert f"rules={file}" in run("env", "--config", file, "--shell", "bash").stdout
    file.write_text('stack = "tune"\n[[rules]]\n[[rules]]\nsiev = "1MiB"\n')
    done = run("env", "--config", file)
    assert done.returncode == 2
    assert "rules, number 2" in " ".join(done.stderr.split())
    assert "did you mean sieve" in " ".join(done.stderr.split())
