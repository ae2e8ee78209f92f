"""Programs under the log layer of this checkout's build."""

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
PRELUDE = "import os, sys, h5py, numpy as np\n"


@dataclass(frozen=True)
class Log:
    folder: Path

    @property
    def plugins(self) -> Path:
        return PLUGINS

    def env(self, options: str = "") -> dict[str, str]:
        found = (self.plugins / "libheadrace_log.so").exists()
        assert found, f"nothing is built in {self.plugins}"
        return {
            **CLEAN,
            "HDF5_PLUGIN_PATH": str(self.plugins),
            "HDF5_VOL_CONNECTOR": f"headrace_log {options}under_vol=0;under_info={{}}",
            "HEADRACE_REPORT": str(self.folder / "report"),
            "HEADRACE_LOG_FILE": str(self.folder / "log"),
            "HEADRACE_LOG_LEVEL": "debug",
        }

    def start(self, text: str, options: str = "", limit: float = 60, **environ: str) -> Result:
        """Runs Python text under the layer, which must have been loaded."""
        before = len(self.loads)
        command = [sys.executable, "-c", PRELUDE + textwrap.dedent(text)]
        done = run(command, env=self.env(options) | environ, cwd=self.folder, limit=limit)
        assert len(self.loads) > before, f"the layer was not loaded: {done.text}"
        return done

    def python(self, text: str, options: str = "", limit: float = 60, **environ: str) -> Result:
        done = self.start(text, options, limit, **environ)
        assert done.status == 0, done.text
        return done

    def plain(self, text: str) -> str:
        """What the text prints in h5py without any plug-in; it must succeed."""
        command = [sys.executable, "-c", PRELUDE + textwrap.dedent(text)]
        done = run(command, env=CLEAN, cwd=self.folder, limit=60)
        assert done.status == 0, done.text
        return str(done.out.decode().strip())

    @property
    def report(self) -> list[dict[str, Any]]:
        path = self.folder / "report"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def loads(self) -> list[dict[str, Any]]:
        return [line for line in self.report if line["event"] == "load"]

    def counted(self, name: str) -> int:
        """A statistic of all processes together."""
        told = [line["values"] for line in self.report if line["event"] == "statistics"]
        return sum(values[name] for values in told if name in values)

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""
