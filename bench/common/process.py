"""Modules of benchmarks as processes of their own, which print JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .evidence import LIMIT, RunError
from .session import ROOT


def module(name: str, words: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """What `python -m NAME WORDS` prints; RunError tells its last words when it fails."""
    path = os.pathsep.join([str(ROOT), *filter(None, [environ.get("PYTHONPATH")])])
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", name, *words],
            env={**environ, "PYTHONPATH": path},
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{' '.join(words[:2])} still ran after {LIMIT} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise RunError(" / ".join(lines[-3:]))
    return dict(json.loads(done.stdout.splitlines()[-1]))
