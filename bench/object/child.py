"""A timed process: `python -m bench.object.child KERNEL SIDE FILE PARAMETERS`."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from bench.common import child


def main(kernel: str, side: str, file: str, parameters: str) -> None:
    """Prints what was found as JSON."""
    module = importlib.import_module(f"bench.object.kernels.{kernel}")
    child.tell("seconds", getattr(module, side)(Path(file), json.loads(parameters)))


if __name__ == "__main__":
    child.end(main)
