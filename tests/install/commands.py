"""Running commands as a user would."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1700  # seconds: HACKING.md builds the base a few times over


def clean_environment(**extra: str) -> dict[str, str]:
    """This process's environment without anything that steers HDF5, Headrace or Python."""
    prefixes = ("HDF5_", "HEADRACE_", "LOG_CALLS_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(prefixes)}
    return kept | extra


def output_of(*command: str | Path, cwd: Path, **extra: str) -> str:
    """What a command prints, errors included; it must succeed within LIMIT."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout
