"""The benchmark of the async stack: what it counts as measured, and what it refuses."""

from __future__ import annotations

import dataclasses
import importlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# `async` is a keyword, so no import statement can name the package.
cases, claims, command, execute, workloads = (
    importlib.import_module(f"bench.async.{name}")
    for name in ("cases", "claims", "command", "execute", "workloads")
)
page = importlib.import_module("bench.common.page")
BY_NAME = {f"{each.kernel}/{each.name}": each for each in cases.cases(cases.QUICK)}
FIELD = BY_NAME["field/gzip-4-1MiB"]
# Workloads that differ most, on the disk and on the model.
SOME = ("field/gzip-4-1MiB", "rows/in-order", "phases/lent-sleep-model", "requests/reads-disk",
        "metadata/tree", "metadata/kernel", "curve-threads/plain")  # fmt: skip


@pytest.fixture
def runner(tmp_path: Path) -> Any:
    return execute.Runner(tmp_path)


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "bench/async/run.py", "--quick", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.long
def test_measures_verifies_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = bench("--dir", tmp_path, "--output", output, "--only", *SOME)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((output / "results.json").read_text())
    assert {"processor", "cores", "file_system"} <= results["about"]["machine"].keys()
    assert {"copy", "pwrite", "zlib compress, plain"} <= results["about"]["limits"].keys()
    samples = results["samples"]
    assert all(each["verified"] is True for each in samples)
    assert {each["stack"] for each in samples} >= {"native", "async", "zarr-python", "tensorstore"}
    walls = [each for each in samples if each["kernel"] in ("field", "metadata")]
    assert all(each["write_wall"] > 0 for each in walls)
    text = (output / "README.md").read_text()
    assert f"| write ≥ 6x | {FIELD.kernel}/{FIELD.name} |" in text
    assert "| read ≥ 20x | rows/random-fitting | not measured |" in text
    assert ": never slower, the worst of " in text
    for figure in ("field", "targets", "phases", "metadata", "curve-threads", "curve-sizes"):
        assert "</svg>" in (output / f"{figure}.svg").read_text()
        assert f"![{figure}.svg]({figure}.svg)" in text
    assert not list(tmp_path.glob("bench-async-*"))


@pytest.mark.parametrize("name", ["field/zstd-3-1MiB", "small/member-contiguous-calls-model"])
def test_native_and_async_are_proven(runner: Any, name: str) -> None:
    case = BY_NAME[name]
    for way in case.ways:
        sample = runner.sample(case, way)
        assert sample["write_wall"] > 0
        assert sample["bytes"]["file"] > 0


@pytest.mark.parametrize("layers", ["async(seat=vol)", "async(seat=vfd)"])
def test_a_seat_that_is_not_there_is_an_error(runner: Any, layers: str) -> None:
    """The environment is that of one seat, and both are asked for."""
    real = runner.stack(cases.Way("async", layers)).environment({})
    stack = runner.stack(cases.OURS)
    kept = {name: real[name] for name in real if name.startswith("HDF5_")}
    pretended = dataclasses.replace(cases.OURS, environ={"HDF5_VOL_CONNECTOR": "", **kept})
    assert stack.plan is not None
    with pytest.raises(execute.RunError, match=r"fell back to native|did not go through"):
        runner.sample(FIELD, pretended)


def test_a_layer_that_is_not_there_is_an_error(runner: Any) -> None:
    pretended = dataclasses.replace(cases.OURS, environ={"HDF5_VOL_CONNECTOR": "native"})
    with pytest.raises(execute.RunError, match="fell back to native"):
        runner.sample(FIELD, pretended)


def test_a_layer_in_a_native_process_is_an_error(runner: Any) -> None:
    variables = runner.stack(cases.OURS).environment({})
    pretended = dataclasses.replace(cases.NATIVE, environ=variables)
    with pytest.raises(execute.RunError, match="was loaded into a native process"):
        runner.sample(FIELD, pretended)


@pytest.mark.parametrize("name", ["field/gzip-4-1MiB", "rows/written-in-order",
                                  "phases/write-sleep-disk", "small/permuted-disk",
                                  "small/strided-contiguous-calls-disk",
                                  "small/member-contiguous-one-call-disk"])  # fmt: skip
def test_a_wrong_element_is_found(tmp_path: Path, name: str) -> None:
    case = BY_NAME[name]
    given = case.parameters | {"side": "write", "peer": ""}
    workload = workloads.load(case.workload)
    path = tmp_path / "data"
    workload.run(path, given, workloads.Clock())
    assert workload.check(path, given) == ""
    with h5py.File(path, "r+") as file:
        (dataset,) = file.values()
        last = tuple(length - 1 for length in dataset.shape)
        value = dataset[last]
        dataset[last] = value + 1 if value.dtype.names is None else (9,) * len(value.dtype.names)
    assert "was read as" in workload.check(path, given)


@pytest.mark.parametrize("name", ["metadata/tiny-datasets-disk", "metadata/tree"])
def test_a_missing_link_and_a_wrong_value_are_found(tmp_path: Path, name: str) -> None:
    case = BY_NAME[name]
    workload = workloads.load(case.workload)
    path = tmp_path / "data"
    workload.run(path, case.parameters, workloads.Clock())
    with h5py.File(path, "r+") as file:
        group = file.get("tiny", file)
        last = list(group)[-1]
        group[last].attrs[next(iter(group[last].attrs))] = 77.0
    assert "77.0" in workload.check(path, case.parameters)
    with h5py.File(path, "r+") as file:
        del file.get("tiny", file)[last]
    assert workload.check(path, case.parameters).startswith("there are ")


def test_wrong_data_is_an_error(runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is not what the reader is told to expect."""
    verify = execute.Runner.verify

    def expect_another(self: Any, name: str, path: Path, given: dict[str, Any]) -> None:
        verify(self, name, path, given | {"count": given["count"] - 1})

    monkeypatch.setattr(execute.Runner, "verify", expect_another)
    with pytest.raises(execute.RunError, match="wrong data: there are 200 datasets, not 199"):
        runner.sample(BY_NAME["metadata/tiny-datasets-disk"], cases.OURS)


def test_wrong_data_read_is_an_error(runner: Any) -> None:
    given = FIELD.parameters | {"side": "read", "peer": ""}
    path = runner.reference("field", given)
    with h5py.File(path, "r+") as file:
        file["field"][3, 5] += 1
    for way in cases.DISK:
        with pytest.raises(execute.RunError, match=r"element \(3, 5\) was read as"):
            runner.sample(dataclasses.replace(FIELD, sides=("read",)), way)


def test_an_error_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    def fail(*_: object) -> None:
        raise execute.RunError("wrong data: on purpose")

    monkeypatch.setattr(execute.Runner, "verify", fail)
    only = ["--quick", "--dir", str(tmp_path), "--only", "small/permuted-disk"]
    assert command.main(only) == 1
    assert "FAILED small permuted-disk, async: wrong data: on purpose" in capsys.readouterr().out


def test_an_interrupted_run_keeps_its_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = execute.Runner.sample
    left = [0, 1]

    def interrupted(self: Any, case: Any, way: Any) -> Any:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return made(self, case, way)

    monkeypatch.setattr(execute.Runner, "sample", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    try:
        only = ["--quick", "--dir", str(tmp_path), "--only", "small/*"]
        assert command.main([*only, "--output", str(tmp_path / "output")]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    samples = json.loads((tmp_path / "output/results.json").read_text())["samples"]
    assert [each.get("error") for each in samples] == [None, None, "interrupted after this"]


def sample(stack: str, repeat: int, **more: Any) -> dict[str, Any]:
    return {"kernel": "k", "case": "c", "stack": stack, "repeat": repeat} | more


def test_claims_are_of_medians_of_pairs() -> None:
    samples = [sample("native", n, write_wall=wall) for n, wall in enumerate((2.0, 20.0, 200.0))]
    samples += [sample("async", n, write_wall=wall) for n, wall in enumerate((1.0, 4.0, 50.0))]
    (found,) = claims.verdicts(samples, [claims.Claim("k/*", "write", 4)])
    assert (found.least, found.median, found.most, found.repeats) == (2, 4, 5, 3)
    assert found.met
    assert not found.every
    assert page.cells(found)[2:] == ["4x", "2x to 5x (3)", "yes", "no"]
    (missed,) = claims.verdicts(samples, [claims.Claim("k/*", "write", 4.1)])
    assert not missed.met


def test_a_case_with_an_error_meets_nothing() -> None:
    samples = [sample(stack, 0, write_wall=1.0) for stack in ("native", "async")]
    (fine,) = claims.verdicts(samples, [claims.Claim("k/c", "write", 1)])
    assert fine.met
    samples.append(sample("async", 1, error="wrong data"))
    (found,) = claims.verdicts(samples, [claims.Claim("k/c", "write", 1)])
    assert not found.met
    (absent,) = claims.verdicts(samples, [claims.Claim("k/other", "write", 1)])
    assert page.cells(absent)[2] == "not measured"


def test_blocked_time_and_the_ideal_total() -> None:
    def phases(**seconds: float) -> dict[str, Any]:
        return {name: {"max": value} for name, value in seconds.items()}

    native = phases(write=1.9, flush=0.1, compute=1.0, close=1.0)
    ours = phases(write=0.05, flush=0.05, compute=1.0, close=2.05)
    samples = [
        sample("native", 0, write_wall=4.0, phases=native),
        sample("async", 0, write_wall=3.15, phases=ours),
    ]
    blocked, total = (
        claims.verdicts(samples, [claims.Claim("k/c", quantity, 1)])[0].median
        for quantity in ("blocked", "total to max(compute, I/O)")
    )
    assert blocked == pytest.approx(20)
    assert total == pytest.approx(1.05)
