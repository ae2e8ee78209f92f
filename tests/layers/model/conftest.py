"""Programs under the model layer, and the tool that plays what it recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.build import built
from harness.layer import NATIVE_BELOW, Layer, Options
from harness.program import Program, text_of
from harness.run import Result, run
from harness.stack import CLEAN


def env_of(settings: str | None, folder: Path, **more: str) -> dict[str, str]:
    """A child's environment with the layer, or without any for None."""
    return Model(folder).env(settings, **more)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass(frozen=True)
class Model(Layer):
    name: str = "model"
    below: str = f";{NATIVE_BELOW}"

    def env(self, options: Options = ..., **more: str) -> dict[str, str]:
        """A log that is not empty is a complaint."""
        level = {} if options is None else {"HEADRACE_LOG_LEVEL": "warning"}
        return super().env(options, **{**level, **more})

    def tool(self, *arguments: str | Path) -> Result:
        command = [built("bin/headrace-model"), *arguments]
        return run(command, env=CLEAN, cwd=self.folder, limit=60)

    def replay(self, *arguments: str | Path) -> dict[str, Any]:
        done = self.tool("replay", *arguments, "--json", self.folder / "replay.json")
        assert done.status == 0, done.text
        (document,) = lines_of(self.folder / "replay.json")
        return document

    def background(self, program: Program, settings: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", text_of(program)]
        return subprocess.Popen(command, env=self.env(settings), cwd=self.folder)

    @property
    def summaries(self) -> list[dict[str, Any]]:
        return lines_of(self.folder / "summary")

    @property
    def ledgers(self) -> list[Path]:
        return sorted((self.folder / "ledgers").glob("*.ledger"))


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)
