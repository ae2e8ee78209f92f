"""Programs that are recorded with what their calls were given, and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.layer import Layer
from harness.program import Program

import headrace.trace
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.run import Replay, prepared, replay, supplied


@dataclass(frozen=True)
class Recorded(Layer):
    name: str = "trace"
    seats: tuple[str, ...] = ("vol", "vfd")
    usual: str = "output=traced;arguments=true;"

    def trace(self) -> headrace.trace.Trace:
        return headrace.trace.open(self.folder / "traced")

    def replayed(self, stack: str = "native", *, exact: bool = False) -> Replay:
        """Of the file x.h5, which the program has made or read; `exact`: chunks are as large."""
        choices = Choices(inputs=self.folder, limit=60)
        make = prepared if exact else supplied
        choices = make(self.folder / "traced", self.folder / f"for-{stack}", choices)
        return replay(self.folder / "traced", stack, self.folder / f"under-{stack}", choices)

    def record(self, program: Program) -> None:
        self.python(program)
        assert self.trace().requests.num_rows > 0


@pytest.fixture
def layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded = Recorded(tmp_path)
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(recorded.plugins))
    return recorded
