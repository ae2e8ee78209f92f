"""Programs that meet hostile circumstances, run as children under a stack of layers."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.report import Report
from harness.run import Result, run
from harness.stack import NATIVE, stack_env

Program = Callable[..., Result]


@pytest.fixture
def report(tmp_path: Path) -> Callable[[], Report]:
    """What the plug-ins of the programs run so far have reported."""
    return lambda: Report(tmp_path / "report")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Run Python text as a child in a folder of its own; keywords are environment variables."""

    def start(text: str, stack: str = "null(seat=both)", **env: str) -> Result:
        full = stack_env(stack, tmp_path / "report", **env)
        command = [sys.executable, "-c", textwrap.dedent(text)]
        return run(command, env=full, cwd=tmp_path, limit=60)

    return start


@pytest.fixture
def plain(program: Program) -> Callable[[str], str]:
    """Evaluates an expression over `f`, the file x.h5, in h5py without any plug-in."""

    def read(expression: str) -> str:
        done = program(
            f"import h5py\nwith h5py.File('x.h5') as f: print({expression})", stack=NATIVE
        )
        assert done.status == 0, done.text
        return done.out.decode().strip()

    return read
