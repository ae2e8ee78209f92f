"""Programs under the model layer, and the tool that plays what it recorded."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.run import Result, run
from harness.stack import CLEAN

ROOT = Path(__file__).resolve().parents[2]
# The build of this checkout: the environment does not count, importing netCDF4 changes it.
BUILD = ROOT / "build/dev"
PLUGINS = BUILD / "lib/plugins"


def built(path: str) -> Path:
    found = BUILD / path
    assert found.exists(), f"{found} is missing: `make ctest` builds it"
    return found


def env_of(settings: str | None, folder: Path, **more: str) -> dict[str, str]:
    """A child's environment with the layer, or without any for None."""
    base = {**CLEAN, **more}
    if settings is None:
        return base
    built("lib/plugins/libheadrace_model.so")
    return {
        **base,
        "HDF5_PLUGIN_PATH": str(PLUGINS),
        "HDF5_VOL_CONNECTOR": f"headrace_model {settings};under_vol=0;under_info={{}}",
        "HEADRACE_REPORT": str(folder / "report"),
        "HEADRACE_LOG_FILE": str(folder / "log"),
    }


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass(frozen=True)
class Model:
    folder: Path

    def python(self, text: str, settings: str | None, **env: str) -> Result:
        """Runs Python text that may use h5py; it must succeed."""
        full = env_of(settings, self.folder, **env)
        command = [sys.executable, "-c", textwrap.dedent(text)]
        done = run(command, env=full, cwd=self.folder, limit=60)
        assert done.status == 0, done.text
        return done

    def tool(self, *arguments: str | Path) -> Result:
        command = [built("bin/headrace-model"), *arguments]
        return run(command, env=CLEAN, cwd=self.folder, limit=60)

    def replay(self, *arguments: str | Path) -> dict[str, Any]:
        done = self.tool("replay", *arguments, "--json", self.folder / "replay.json")
        assert done.status == 0, done.text
        (document,) = lines_of(self.folder / "replay.json")
        return document

    def background(self, text: str, settings: str) -> subprocess.Popen[bytes]:
        full = env_of(settings, self.folder)
        return subprocess.Popen([sys.executable, "-c", text], env=full, cwd=self.folder)

    @property
    def summaries(self) -> list[dict[str, Any]]:
        return lines_of(self.folder / "summary")

    @property
    def ledgers(self) -> list[Path]:
        return sorted((self.folder / "ledgers").glob("*.ledger"))

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)
