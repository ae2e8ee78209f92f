"""The gain of advice is measured by replays where a stack does what is advised."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import h5py
import pytest
from launched import HEADRACE
from layers.trace.replay.conftest import Recorded

import headrace.trace.analysis.advice
from headrace.cli.trace.report import report
from headrace.trace.analysis.advice import Advice
from headrace.trace.replay import measured
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.run import Replay, differences, replay


def scattered() -> None:
    with h5py.File("x.h5", "w") as file:
        columns = file.create_dataset("x", (8192, 500), "f4")
        for i in range(60):
            columns[:, i * 7] = i


def advice(rule: str, stack: str, gain: float) -> Advice:
    return Advice(rule, "/x", "evidence", "change", "code", gain, "estimate", stack=stack)


def test_a_stack_is_replayed_and_other_advice_is_left(
    layer: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer.record(scattered)
    made: list[Replay] = []

    # Replays are run; how long they took is set, as it depends on what else the machine does.
    def timed(trace: Path, stack: str, folder: Path, choices: Choices) -> Replay:
        made.append(replay(trace, stack, folder, choices))
        assert made[-1].likeness.replayed_seconds > 0
        spent = {"native": [3.0, 9.0, 4.0], "log": [1.0, 0.5, 7.0]}[stack][(len(made) - 1) // 2]
        return replace(made[-1], likeness=replace(made[-1].likeness, replayed_seconds=spent))

    monkeypatch.setattr(measured, "replay", timed)
    given = [advice("scattered_writes", "log", 1000.0), advice("wrong_shape", "", 1e-9)]
    found = measured.measured(layer.folder / "traced", given, Choices(limit=60))
    assert [each.stack for each in made] == ["native", "log"] * 3
    assert [each.likeness.exact for each in made] == [True, False] * 3, "log writes otherwise"
    assert not any(differences(made[0], each) for each in made), "the files are the same"
    assert [(each.rule, each.gain) for each in found] == [
        ("scattered_writes", 3.0),
        ("wrong_shape", 1e-9),
    ]
    assert "took 4.00 s in HDF5 natively and 1.00 s with `--stack log`" in found[0].estimate
    assert found[1] == given[1]
    assert not list(layer.folder.glob(".traced-*")), "replays leave nothing behind"


def test_a_report_tells_what_was_measured(layer: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    layer.record(scattered)
    monkeypatch.setattr(
        headrace.trace.analysis.advice, "advise", lambda *_: [advice("a", "log", 5.0)]
    )
    monkeypatch.setattr(measured, "_spent", lambda *_: ({"native": 3.0, "log": 1.0}, ""))
    page = layer.folder / "page.html"
    for replays in (False, True):
        report(layer.folder / "traced", page, replays, None)
        assert ("replays of this trace took" in page.read_text()) == replays


def test_inputs_are_for_replays(layer: Recorded) -> None:
    layer.record(scattered)
    words = [str(HEADRACE), "report", str(layer.folder / "traced"), "--inputs", "."]
    refused = subprocess.run(words, check=False, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "--inputs is for --replay" in refused.stderr


def test_what_spares_nothing_is_not_told(layer: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    spent = {"native": 3.0, "async": 3.5, "log": 1.0}
    monkeypatch.setattr(measured, "_spent", lambda *_: (spent, ""))
    given = [advice("a", "async", 5.0), advice("b", "", 1.0), advice("c", "log", 0.5)]
    found = measured.measured(layer.folder, given, Choices())
    assert [(each.rule, each.gain) for each in found] == [("c", 2.0), ("b", 1.0)]
    assert found[1] == given[1]
