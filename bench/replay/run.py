"""Measures how near replays are to the kernels of headrace-bench; see README.md in this folder.

python bench/replay/run.py [--only KERNEL,...] [--repeats N] [--output FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path

from headrace.bench import programs
from headrace.plan import inherited_environment, prepare
from headrace.trace.reader import read
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.run import replay

KERNELS = (
    "vpic",
    "bdcats",
    "metadata",
    "ior",
    "h5py",
    "iotest",
    "hacc",
    "sw4",
    "amrex",
    "cgns",
    "ml",
)
LIMIT = 600  # seconds of a kernel


def record(kernel: str, folder: Path) -> Path:
    """Runs a kernel at its quick size; its trace."""
    trace = folder / "recorded"
    given = inherited_environment()
    environ = prepare("trace(arguments=true)", None, given).apply(given)
    library = programs.hdf5(None, parallel=False).file
    (folder / "kernel").mkdir()
    subprocess.run(
        [programs.bench(None), "--hdf5", library, "--mpi", "no", "--quick", "--repeats", "1",
         "--dir", folder / "kernel", "--samples", folder / "samples", kernel],
        env=environ | {"HEADRACE_TRACE_OUTPUT": str(trace)}, check=True, timeout=LIMIT,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    read(trace)
    return trace


def measure(kernel: str, repeats: int, folder: Path) -> list[dict[str, object]]:
    """A row for each repeat: the kernel, and at once its replay."""
    rows = []
    for number in range(repeats):
        place = folder / f"{kernel}-{number}"
        place.mkdir()
        made = replay(record(kernel, place), "native", place / "replay", Choices(limit=LIMIT))
        rows.append({"kernel": kernel, **asdict(made.likeness), "left_out": dict(made.left_out)})
        shutil.rmtree(place)
    return rows


def main() -> None:
    """Writes results.json, or prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(KERNELS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        rows = [
            row
            for kernel in words.only.split(",")
            for row in measure(kernel, words.repeats, Path(folder))
        ]
    text = json.dumps(rows, indent=1) + "\n"
    if words.output is None:
        print(text, end="")
    else:
        words.output.mkdir(parents=True, exist_ok=True)
        (words.output / "results.json").write_text(text)


if __name__ == "__main__":
    main()
