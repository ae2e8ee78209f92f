"""What a timed process of h5py tells of itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import h5py


def tell(name: str, found: object) -> None:
    """Prints what was found, under that name, as JSON, with the plug-ins that are loaded."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    loaded = sorted(each for each in files if each.startswith("libheadrace"))
    print(json.dumps({name: found, "headrace": loaded, "hdf5": h5py.version.hdf5_version}))


def end(main: Callable[..., None]) -> None:
    """Calls `main` with the words of the command line; whatever a library raises is the result."""
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
