"""Programs under the async layer, its connector asserted to have been there."""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.run import Result, run
from harness.stack import CLEAN

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
PLUGINS = ROOT / "build/dev/lib/plugins"


def env_of(options: str | None, folder: Path, **more: str) -> dict[str, str]:
    """A child's environment with the layer, or without any for None."""
    base = {**CLEAN, "PYTHONPATH": str(TESTS), **more}
    if options is None:
        return base
    assert (PLUGINS / "libheadrace_async.so").exists(), "`make ctest` builds the plug-ins"
    return {
        **base,
        "HDF5_PLUGIN_PATH": str(PLUGINS),
        "HDF5_VOL_CONNECTOR": f"headrace_async {options}under_vol=0;under_info={{}}",
        "HEADRACE_REPORT": str(folder / "report"),
        "HEADRACE_LOG_FILE": str(folder / "log"),
    }


@dataclass(frozen=True)
class Filters:
    folder: Path

    def python(self, text: str, options: str | None = "seat=vol;", **env: str) -> Result:
        """Runs Python text that may use h5py; it must succeed."""
        command = [sys.executable, "-c", textwrap.dedent(text)]
        full = env_of(options, self.folder, **env)
        done = run(command, env=full, cwd=self.folder, limit=90)
        assert done.status == 0, done.text
        return done

    def plain(self, expression: str) -> str:
        """The value of an expression over `f`, the file x.h5, in h5py without any plug-in."""
        text = f"import h5py\nwith h5py.File('x.h5') as f: print({expression})"
        return self.python(text, None).out.decode().strip()

    @property
    def counts(self) -> Counter[str]:
        """What the filters of all programs so far did."""
        total: Counter[str] = Counter()
        lines: list[dict[str, Any]] = [
            json.loads(line) for line in (self.folder / "report").read_text().splitlines()
        ]
        for line in lines:
            if line["event"] == "statistics" and line["seat"] == "vol":
                total.update(line["values"])
        return total


@pytest.fixture
def filters(tmp_path: Path) -> Filters:
    return Filters(tmp_path)
