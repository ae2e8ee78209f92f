"""The C programs in tests/async that make many requests."""

from __future__ import annotations

import json
from pathlib import Path

from async_layer import ROOT
from harness.run import Result, run
from harness.stack import CLEAN

BUILD = ROOT / "build/dev"
NATIVE = "under_vol=0;under_info={}"


def requests(name: str, folder: Path, *words: str, below: str | None = NATIVE) -> Result:
    """Runs one under the async layer with `below` under that; natively for None."""
    env = {**CLEAN, "HEADRACE_REPORT": str(folder / "report")}
    if below is not None:
        env |= {
            "HDF5_PLUGIN_PATH": str(BUILD / "lib/plugins"),
            "HDF5_VOL_CONNECTOR": f"headrace_async {below}",
        }
    command: list[str | Path] = [BUILD / "tests/async" / name, folder / "x.h5", *words]
    return run(command, env=env, cwd=folder, limit=120)


def told(folder: Path, name: str) -> int:
    """A statistic of the last run, which went through both seats."""
    lines = [json.loads(line) for line in (folder / "report").read_text().splitlines()]
    loaded = {line["seat"] for line in lines if line["event"] == "load"}
    assert loaded == {"vol", "vfd"}
    values = [line["values"] for line in lines if line["event"] == "statistics"]
    return int(sum(one.get(name, 0) for one in values))
