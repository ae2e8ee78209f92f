"""Programs under the layer `trace`, and what it has recorded of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.layer import Layer

import headrace.trace


@dataclass(frozen=True)
class Traced(Layer):
    name: str = "trace"
    seats: tuple[str, ...] = ("vol", "vfd")
    usual: str = "output=traced;"

    @property
    def output(self) -> Path:
        return self.folder / "traced"

    def read(self) -> headrace.trace.Trace:
        return headrace.trace.open(self.output)


@pytest.fixture
def layer(tmp_path: Path) -> Traced:
    return Traced(tmp_path)
