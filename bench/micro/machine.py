"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any


def _first(path: str, key: str) -> str:
    """The value of the first "key : value" line of a file below /proc."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "unknown"


def _output(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def load() -> list[float]:
    """Programs that were running or waiting, over the last 1, 5 and 15 minutes."""
    return [round(each, 2) for each in os.getloadavg()]


def describe(root: Path) -> dict[str, Any]:
    """Processor, memory, system, compiler and revision; nothing that tells whose machine it is."""
    temporary = tempfile.gettempdir()
    return {
        "processor": _first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in _first("/proc/cpuinfo", "flags").split(),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "system": _first_of_release(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "compiler": _output("c++", "--version").partition("\n")[0],
        "file_system": _output("stat", "--file-system", "--format=%T", temporary),
        "revision": _output("git", "-C", str(root), "describe", "--always", "--dirty"),
    }


def _first_of_release() -> str:
    return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
