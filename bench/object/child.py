"""A timed process: `python -m bench.object.child KERNEL SIDE FILE PARAMETERS`."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import h5py


def main(kernel: str, side: str, file: str, parameters: str) -> None:
    """Prints what was found as JSON."""
    module = importlib.import_module(f"bench.object.kernels.{kernel}")
    found = getattr(module, side)(Path(file), json.loads(parameters))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    loaded = sorted(each for each in files if each.startswith("libheadrace"))
    print(json.dumps({"seconds": found, "headrace": loaded, "hdf5": h5py.version.hdf5_version}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever a library raises is the result
        sys.exit(f"{type(error).__name__}: {error}")
