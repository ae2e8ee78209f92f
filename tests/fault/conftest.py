"""Programs under the fault layer, run as children in a folder of their own."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.run import Result, run
from harness.stack import NATIVE, stack_env

Program = Callable[..., Result]
Journal = Callable[[], list[dict[str, Any]]]


def settings(journal: Path, **options: object) -> dict[str, str]:
    """The environment variables for the layer's options."""
    given = {"journal": journal, **options}
    return {f"HEADRACE_FAULT_{name.upper()}": str(value) for name, value in given.items()}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Run Python text under the layer; keywords are its options."""

    def start(text: str, stack: str = "fault", **options: object) -> Result:
        more = {} if stack == NATIVE else settings(tmp_path / "journal", **options)
        env = stack_env(stack, tmp_path / "report", **more)
        return run([sys.executable, "-c", textwrap.dedent(text)], env=env, cwd=tmp_path)

    return start


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """The faults of all programs so far, first to last."""

    def read() -> list[dict[str, Any]]:
        path = tmp_path / "journal"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return read


@pytest.fixture
def plain(program: Program) -> Callable[[str], str]:
    """Evaluates an expression over `f`, the file x.h5, in h5py without any plug-in."""

    def read(expression: str) -> str:
        text = f"import h5py\nwith h5py.File('x.h5') as f: print({expression})"
        done = program(text, NATIVE)
        assert done.status == 0, done.text
        return done.out.decode().strip()

    return read
