"""One process of a workload: `python -m bench.async.child run|prepare|check NAME PATH JSON`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from headrace.bench.peers.workload import Clock

from . import workloads


def main(action: str, name: str, path_text: str, text: str) -> None:
    """Prints what was found as JSON; ends with a message when the work fails."""
    workload, given, path = workloads.load(name), json.loads(text), Path(path_text)
    answer: dict[str, object] = {}
    clock = Clock()
    start = time.perf_counter()
    if action == "run":
        workload.run(path, given, clock)
    elif action == "prepare":
        workload.prepare(path, given)
    else:
        answer["fault"] = workload.check(path, given)
    answer["elapsed"] = time.perf_counter() - start
    answer["phases"] = clock.phases
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    files = {Path(line.split()[-1]).name for line in maps.splitlines() if ".so" in line}
    answer["headrace"] = sorted(file for file in files if file.startswith("libheadrace"))
    if "h5py" in sys.modules:
        answer["hdf5"] = str(sys.modules["h5py"].version.hdf5_version)
    print(json.dumps(answer))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever a library raises is the result
        sys.exit(f"{type(error).__name__}: {error}")
