"""The benchmark of the log layer: what it counts as measured, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from rich.console import Console

from headrace.bench import summary
from headrace.measuring import programs

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.common import installed  # noqa: E402
from bench.common.claims import Claim  # noqa: E402
from bench.common.evidence import RunError  # noqa: E402
from bench.common.mpi import PARALLEL, mpi_of  # noqa: E402
from bench.common.ways import NATIVE, Way  # noqa: E402
from bench.log import (  # noqa: E402
    cases,
    claims,
    command,
    execute,
    ledgers,
    page,
    plain,
    record,
    scale,
    scale_page,
)

DATA = ROOT.parent / "shared/data/e3sm"
CASE = cases.Case("g-canonical-independent", (NATIVE, cases.LATER))


@pytest.fixture
def runner(tmp_path: Path) -> execute.Runner:
    folder = tmp_path / "runs"
    folder.mkdir()
    return execute.Runner(folder, DATA, mpi_of(PARALLEL))


@pytest.mark.long
def test_measures_verifies_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    only = ("--only", "e3sm/g-boxes-*", "e3sm-2-ranks/g-canonical-*")
    done = subprocess.run(
        [sys.executable, ROOT / "bench/log/run.py", "--data", DATA, "--repeats", "1",
         "--dir", tmp_path, "--output", output, "--no-scale", *only],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    written = (output / "results.json").read_text()
    samples = json.loads(written)["samples"]
    ways = ["native", "log later", "log close"]
    ways += ["native", "log over ranks, later", "log over ranks"]
    assert [each["stack"] for each in samples] == ways
    assert [each["ranks"] for each in samples] == [1, 1, 1, 2, 2, 2]
    later = samples[1]
    assert later["log"]["rows"] > later["log"]["writes"] > 0
    assert later["log"]["index_bytes"] > 0
    assert later["replay"] > 0
    assert all(each["counted"]["writes_logged"] for each in (later, *samples[4:]))
    text = (output / "README.md").read_text()
    assert "Of 6 runs 6 left the file that native HDF5 writes" in text
    assert "| until close ≥ 1x | e3sm/g-boxes-independent, log close |" in text
    assert "| until close ≥ 15x | e3sm/f-boxes-*, log later | not measured |" in text
    for figure in ("targets", "e3sm", "e3sm-2-ranks"):
        assert "</svg>" in (output / f"{figure}.svg").read_text()
    for private in (tmp_path, ROOT, DATA):
        assert str(private) not in text + written
    assert not list(tmp_path.glob("bench-log-*"))


@pytest.mark.long
def test_wrong_data_fail_the_run_and_all_targets(
    runner: execute.Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    """The file that was written natively is changed behind the benchmark's back."""
    reference = execute.Runner.reference

    def changed(self: execute.Runner, case: cases.Case) -> Path:
        path = reference(self, case)
        with h5py.File(path, "r+") as file:
            file["temperature"][0, 3, 5] += 1
        return path

    monkeypatch.setattr(execute.Runner, "reference", changed)
    with pytest.raises(RunError, match=r"wrong data: temperature: element 305 differs"):
        runner.sample(CASE, cases.LATER)
    assert not (runner.folder / "run").exists()
    only = ["--only", "e3sm/g-canonical-*", "--repeats", "1", "--dir", str(tmp_path)]
    output = tmp_path / "output"
    assert command.main(["--data", str(DATA), *only, "--output", str(output)]) == 1
    assert "wrong data: temperature: element" in capsys.readouterr().out
    text = (output / "README.md").read_text()
    assert "**Void: 3 of 3 runs failed, so no target is met.**" in text
    assert "| yes |" not in text


def test_a_layer_that_logs_nothing_is_an_error(runner: execute.Runner) -> None:
    """Over MPI the layer leaves all to HDF5 unless it is told otherwise."""
    case = cases.Case(CASE.name, (NATIVE,), 2)
    with pytest.raises(RunError, match="nothing was logged"):
        runner.sample(case, Way(cases.RANKS.name, "log"))
    assert runner.sample(case, cases.RANKS)["counted"]["writes_logged"] > 0


def test_another_build_amid_the_benchmark_is_an_error(
    runner: execute.Runner, tmp_path: Path
) -> None:
    for name in ("lib/plugins/a.so", "bin/program"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"one")
    before = installed.fingerprint(tmp_path)
    assert installed.fingerprint(tmp_path) == before
    (tmp_path / "bin/program").write_bytes(b"two")
    assert installed.fingerprint(tmp_path) != before
    runner.installed = before
    with pytest.raises(RunError, match="another build was installed amid the benchmark"):
        runner.sample(CASE, NATIVE)


def test_the_plain_reader_finds_every_difference(tmp_path: Path) -> None:
    good, other = tmp_path / "good.h5", tmp_path / "other.h5"
    with h5py.File(good, "w") as file:
        file["x"] = np.full((3, 4), np.nan, "f4")
        file.create_dataset("y", data=np.arange(6), chunks=(2,), maxshape=(None,))
        file["x"].attrs["units"] = "K"
        file.attrs["title"] = np.bytes_("a history")
    shutil.copy(good, other)
    assert plain.difference(other, good) == ""

    def changed(change: str) -> str:
        shutil.copy(good, other)
        with h5py.File(other, "r+") as file:
            exec(change, {"file": file})  # noqa: S102
        return plain.difference(other, good)

    assert changed("file['x'][1, 2] = -file['x'][1, 2]") == "x: element 6 differs"
    assert changed("del file['y']") == "other variables: y"
    assert changed("file['z'] = 1") == "other variables: z"
    assert changed("file['y'].resize((7,))") == "y: shape is (7,), not (6,)"
    assert changed("del file['y']; file['y'] = [0, 1, 2, 3, 4, 5]").startswith("y: maxshape is ")
    assert changed("file['x'].attrs['units'] = 'C'") == "x: attribute units differs"
    assert changed("file.attrs['_headrace_log'] = 1") == (
        "the root group: other attributes: _headrace_log"
    )


def made(stack: str, repeat: int, seconds: float, **more: Any) -> dict[str, Any]:
    """A sample of F with boxes; half of the time is in the calls that write."""
    phases = {"create": 0.2, "write": 0.5, "flush": 0.2, "close": 0.1}
    return {
        "kernel": "e3sm", "case": "f-boxes-independent", "stack": stack, "ranks": 1,
        "repeat": repeat, "write_wall": seconds, "read_wall": 1.0, "hdf5": "2.0.0",
        "phases": {name: {"max": part * seconds} for name, part in phases.items()},
        "bytes": {"written": 1, "read": 1, "file": 1},
        "log": {"writes": 2, "rows": 1000, "data_bytes": 1, "index_bytes": 160}, "replay": 1.0,
    } | more  # fmt: skip


def rendered(samples: list[dict[str, Any]]) -> str:
    return page.render({"machine": {}}, summary.rows(samples), samples)


def test_the_page_tells_a_miss() -> None:
    samples = [made("native", n, seconds) for n, seconds in enumerate((2.0, 3.0, 40.0))]
    samples += [made("log later", n, seconds) for n, seconds in enumerate((0.1, 0.1, 4.0))]
    samples += [made("log close", n, 1.0) for n in range(3)]
    text = rendered(samples)
    where = "e3sm/f-boxes-independent"
    assert f"| until close ≥ 15x | {where}, log later | 20x | 10x to 30x (3) | yes | no |" in text
    assert f"| until close ≥ 4x | {where}, log close | 3x | 2x to 40x (3) | **no** | no |" in text
    assert f"| index smaller ≥ 50x | {where}, log later | 100x |" in text
    assert "| e3sm/f-boxes-independent | 2 | 1,000 | 160 | 16,000 | 1/100 | 1 | 1.00 s |" in text
    assert "The kernel does not tell how long it builds selections" in text
    assert "Void" not in text


def test_the_page_of_a_difference_of_data_meets_nothing(tmp_path: Path) -> None:
    samples = [
        made(stack, n, s) for n in (0, 1) for stack, s in (("native", 9.0), ("log later", 0.1))
    ]
    fine = claims.judge(samples)
    assert any(each.met for each in fine)
    fault = {"kernel": "e3sm", "case": "g-boxes-independent", "stack": "log close", "ranks": 1,
             "repeat": 0, "error": "wrong data: T: element 3 differs"}  # fmt: skip
    samples.append(fault)
    assert not any(each.met or each.every for each in claims.judge(samples))
    assert command.report({"machine": {}}, samples, tmp_path, Console(quiet=True)) == 1
    text = (tmp_path / "README.md").read_text()
    assert "**Void: 1 of 5 runs failed, so no target is met.**" in text
    assert "- e3sm/g-boxes-independent, log close: wrong data: T: element 3 differs" in text
    assert "Of 5 runs 4 left the file that native HDF5 writes" in text
    assert "| yes |" not in text


def test_selections_that_are_told_apart_are_not_counted_as_calls() -> None:
    def told(stack: str, seconds: float, select: float) -> dict[str, Any]:
        sample = made(stack, 0, seconds)
        sample["phases"]["select"] = {"max": select}
        return sample

    samples = [told("native", 8.0, 5.0), told("log later", 0.5, 5.0)]
    claim = Claim("e3sm/*", claims.IN_CALLS, 15, stack="log later")
    (found,) = claims.judge(samples, [claim])
    assert found.median == pytest.approx(16)
    assert "*Select* is the kernel building selections" in rendered(samples)
    assert "| define | select | post |" in rendered(samples)


LOG: dict[str, Any] = {
    "size": 60 + 32 + 3_000_000 + 32 + 500, "data_bytes": 3_000_000, "index_bytes": 500,
    "patterns": 2,
    "datasets": [{"writes": 4, "bytes": 2_000_000}, {"writes": 4, "bytes": 1_000_000}],
}  # fmt: skip


def replayed(folder: Path, given: scale.Given, ranks: int) -> dict[str, Any]:
    """What headrace-model tells of ledgers that were made."""
    files = []
    for number, (file, rank, records) in enumerate(given):
        files.append(folder / f"{number}.ledger")
        ledgers.write(files[-1], file, rank, records)
        read_rank, read = ledgers.read(files[-1])
        assert read_rank == rank
        assert read.tobytes() == records.tobytes()
    program = programs.bench(None, "headrace-model")
    answer = folder / "answer.json"
    subprocess.run(
        [program, "replay", *files, "--ranks", str(ranks), "--json", answer],
        check=True, capture_output=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(answer.read_text())["results"][0]
    return found


def test_ledgers_that_are_made_are_replayed_as_they_are_meant(tmp_path: Path) -> None:
    own = [(f"log {rank}", rank, ledgers.appended(LOG)) for rank in (0, 1)]
    told = replayed(tmp_path, own, 10)
    assert told["bytes"] == 10 * LOG["size"]
    assert told["requests"] == 10 * (len(own[0][2]) - 1)
    assert told["revocations"] == 0  # nobody writes to the log of another
    for cached, requests in ((False, 5), (True, 2)):
        read = ledgers.index(LOG, cached)
        told = replayed(tmp_path, [(f"log {rank}", rank, read) for rank in (0, 1)], 10)
        assert told["requests"] == 10 * requests
        assert told["bytes"] == 10 * (60 + 32 + 32 + 500)
    shares = ledgers.shares([LOG, LOG], [1, 3], 4, cached=False)
    assert [len(shares[rank, 0]) for rank in (0, 1)] == [2, 6]
    assert sum(int(each["length"].sum()) for each in shares.values()) == 2 * LOG["data_bytes"]
    pieces = np.sort(np.concatenate([shares[0, 1], shares[1, 1]]), order="offset")
    assert pieces["offset"][0] == 60 + 32
    assert (pieces["offset"][1:] == (pieces["offset"] + pieces["length"])[:-1]).all()
    shares = ledgers.shares([LOG, LOG], [0, 3], 4, cached=True)
    assert len(shares[0, 0]) == 0
    assert shares[1, 0]["length"].sum() == LOG["size"]


def test_requests_are_gathered_and_left_out() -> None:
    mib = 1 << 20
    places = [0, 8, 100, 50, 60, mib - 4, mib, mib + 9]
    records = ledgers.made(ledgers.WRITE, [(place, 4) for place in places])
    joined = ledgers.gathered(records)
    assert joined["offset"].tolist() == [0, 50, mib]
    assert joined["length"].tolist() == [12, 12, 8]
    many = ledgers.made(ledgers.WRITE, [(place, 4) for place in range(10_000)])
    some = ledgers.sampled(many, 1000)
    assert len(some) == 1000
    assert some["offset"][[0, -1]].tolist() == [0, 9999]
    assert ledgers.sampled(many, 10_000) is many


@pytest.mark.long
def test_what_two_ranks_do_is_told_for_more(runner: execute.Runner) -> None:
    recorded = record.record(runner)
    assert not list(runner.folder.iterdir())
    for log, native in zip(recorded.logs, recorded.native, strict=True):
        data = (native["kind"] == ledgers.WRITE) & (native["flags"] & ledgers.METADATA == 0)
        assert log["data_bytes"] <= native["length"][data].sum() <= log["data_bytes"] + 100
        assert ledgers.appended(log)["length"].sum() == log["size"]
    points = scale.curve(recorded, runner.folder, lambda _: None, ("lustre-4",), (2, 10))
    assert [each.ranks for each in points] == [2, 2, 10, 10]
    assert all(value > 0 for each in points for value in each.seconds.values())
    assert points[2].part(scale.GATHER, scale.NONE) > points[0].part(scale.GATHER, scale.NONE)
    assert points[2].native(scale.NONE) > points[2].log(scale.NONE)
    scaled = scale.Scaled(points, recorded.logs, {"lustre-4": 1.0})
    text = scale_page.render(scaled)
    assert "| lustre-4 | 10 |" in text
    assert text.count("On 10 ranks: ") == 2
    assert "</svg>" in scale_page.figure(points)
    assert len(scaled.json()["points"]) == 4
