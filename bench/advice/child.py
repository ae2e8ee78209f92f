"""One timed program: `python -m bench.advice.child FOLDER TEXT`."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main(folder: str, source: str) -> None:
    """Runs it in the folder, and prints what was found as JSON."""
    code = compile(source, "<program>", "exec")
    scope = {"__name__": "__program__"}
    exec("import h5py, numpy", {})  # noqa: S102, importing is not timed
    os.chdir(folder)
    start = time.perf_counter()
    exec(code, scope)  # noqa: S102, the text is this benchmark's own
    elapsed = time.perf_counter() - start
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    loaded = sorted(file for file in files if file.startswith("libheadrace"))
    version = str(sys.modules["h5py"].version.hdf5_version)
    print(json.dumps({"elapsed": elapsed, "headrace": loaded, "hdf5": version}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever a library raises is the result
        sys.exit(f"{type(error).__name__}: {error}")
