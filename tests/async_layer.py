"""Programs under the async layer of this checkout's build, in both of its seats."""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.run import Result, run
from harness.stack import CLEAN

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "build/dev/lib/plugins"


@dataclass(frozen=True)
class Async:
    folder: Path
    below: str = "under_vol=0;under_info={}"

    def env(self, options: str) -> dict[str, str]:
        assert (PLUGINS / "libheadrace_async.so").exists(), f"nothing is built in {PLUGINS}"
        return {
            **CLEAN,
            "HDF5_PLUGIN_PATH": str(PLUGINS),
            "HDF5_VOL_CONNECTOR": f"headrace_async seat=both;{options}{self.below}",
            "HEADRACE_REPORT": str(self.folder / "report"),
            "HEADRACE_LOG_FILE": str(self.folder / "log"),
            "HEADRACE_LOG_LEVEL": "debug",
        }

    def start(self, text: str, options: str = "", limit: float = 60) -> Result:
        """Runs Python text under the layer; both seats must have been taken."""
        command = [sys.executable, "-c", textwrap.dedent(text)]
        done = run(command, env=self.env(options), cwd=self.folder, limit=limit)
        for seat in ("vol", "vfd"):
            assert any(e["event"] == "load" and e["seat"] == seat for e in self.report), (
                f"no {seat}: {done.text}"
            )
        return done

    def python(self, text: str, options: str = "", limit: float = 60) -> Result:
        done = self.start(text, options, limit)
        assert done.status == 0, done.text
        return done

    def plain(self, text: str) -> str:
        """What the text prints in h5py without any plug-in; it must succeed."""
        command = [sys.executable, "-c", "import h5py, numpy as np, os\n" + textwrap.dedent(text)]
        done = run(command, env=CLEAN, cwd=self.folder, limit=60)
        assert done.status == 0, done.text
        return str(done.out.decode().strip())

    @property
    def report(self) -> list[dict[str, Any]]:
        path = self.folder / "report"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def statistics(self) -> list[dict[str, int]]:
        """Of each file that was written behind."""
        told = [line for line in self.report if line["event"] == "statistics"]
        return [line["values"] for line in told if line["seat"] == "vfd"]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()
