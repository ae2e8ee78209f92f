"""Builds the programs that the benchmarks run, and the plug-ins as they are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/bench"


def build(folder: Path = BUILD, *targets: str) -> None:
    """All of it, or the targets alone; ends the program when it fails."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", "-DHEADRACE_BUILD_BENCH=ON"]  # fmt: skip
    chosen = ["--target", *targets] if targets else []
    for command in (configure, ["cmake", "--build", str(folder), *chosen]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
