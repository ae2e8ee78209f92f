"""Programs under the fault layer, run as children in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.program import Program
from harness.run import Result
from harness.stack import NATIVE
from harness.stacked import Stacked


def settings(journal: Path, **options: object) -> dict[str, str]:
    """The environment variables for the layer's options."""
    given = {"journal": journal, **options}
    return {f"HEADRACE_FAULT_{name.upper()}": str(value) for name, value in given.items()}


@dataclass(frozen=True)
class FaultLayer(Stacked):
    usual: str = "fault"

    def start(self, program: Program, stack: str = "", **options: object) -> Result:
        """Keywords are options of the layer."""
        if stack == NATIVE:
            return super().start(program, NATIVE)
        return super().start(program, stack, **settings(self.folder / "journal", **options))

    @property
    def journal(self) -> list[dict[str, Any]]:
        """The faults of all programs so far, first to last."""
        path = self.folder / "journal"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def fault(tmp_path: Path) -> FaultLayer:
    return FaultLayer(tmp_path)


@pytest.fixture
def plain(fault: FaultLayer) -> Callable[[str], str]:
    return fault.value
