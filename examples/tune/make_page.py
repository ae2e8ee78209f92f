"""Writes docs/guide/tuning-cases.md: five cases, each a command and what it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/guide/tuning-cases.md"
PARALLEL = HERE.parents[1] / "build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so"
LIMIT = 1200  # seconds of a command


@dataclass(frozen=True)
class Case:
    """`before`: commands whose output is not shown."""

    title: str
    why: str
    commands: tuple[str, ...]
    after: str
    before: tuple[str, ...] = ()


HEAD = """# Five cases of tuning

Each case is a program in `examples/tune`, a command and what it printed. The times are those of one machine with
two cores; `examples/tune/make_page.py` runs the commands on yours and writes this page anew.
"""

CASES = (
    Case(
        "A program that reads across its chunks",
        "`steps.py` reads day by day what is stored for time series: every day touches all 32 chunks of 1.9 MB, "
        "more than HDF5 keeps decoded. The safe rules are enough, and change nothing in the file.",
        (
            "time -p python steps.py",
            "time -p headrace run --stack tune --stats -- python steps.py",
        ),
        "The layer saw chunks come again that had left the cache, and gave the dataset one that holds them. "
        "A program of one's own can do so with `rdcc_nbytes`; `headrace trace` says how much.",
        ("python steps.py 1",),
    ),
    Case(
        "A program that writes its fill values first",
        "`fields.py` writes netCDF variables of fixed size, which are filled before they are written.",
        ("headrace run --stack 'tune(seat=both)' --stats -- python fields.py",),
        "`fill deferred` is what HDF5 wanted to write and was kept back; `fill written` is what no data took the "
        "place of. Whether fewer bytes are also a gain depends on the storage: it is on disks and over networks, "
        "in a page cache it is not.",
    ),
    Case(
        "A program whose time goes into compression",
        "`compressed.py` waits for deflate. Which layer helps, a search finds out: it records the program once and "
        "replays its calls.",
        (
            "headrace tune --budget 3min -- python compressed.py",
            "headrace tune explain tuned.toml",
            "headrace run --config tuned.toml -- python compressed.py",
        ),
        "Settings that were not surely faster are named below the table, and not in the configuration.",
    ),
    Case(
        "A thousand small datasets",
        "`results.py` makes many small objects, for which HDF5 spends its time on metadata. With `--allow layout` "
        "the search may also change how objects are stored, and says who could not read the file any more.",
        (
            "headrace tune --budget 3min --allow layout --output small.toml -- python results.py",
        ),
        "On this machine's disk behind a page cache little is to be gained. On storage that takes 0.5 ms for a "
        "request the measured gains are those of [tune](tune.md#with-consent-how-objects-are-stored).",
    ),
    Case(
        "A simulation that is to run on 4096 ranks",
        "Two ranks of the VPIC kernel are recorded here and played on a modelled Lustre with 160 targets, as if "
        "4096 ranks made their requests.",
        (
            "headrace tune --on lustre-160 --ranks 4096 --output lustre.toml vpic.hrtrace",
            "headrace tune explain lustre.toml",
        ),
        "The configuration is for that machine; nothing of it was measured here but the model.",
        (
            "mpiexec --oversubscribe --allow-run-as-root -n 2 headrace run --stack "
            "'trace(arguments=true,output=vpic.hrtrace)' -- headrace-bench --hdf5 $PARALLEL "
            "--mpi yes --dir . --only contiguous-collective --no-read vpic",
        ),
    ),
)  # fmt: skip


def run(command: str, folder: Path) -> str:
    """What it prints, on both streams."""
    here = Path(sys.executable).parent
    environ = os.environ | {
        "PATH": f"{here}:{here.parent}/lib/python3.11/site-packages/headrace/bin:{os.environ['PATH']}",
        "COLUMNS": "100", "NO_COLOR": "1", "PARALLEL": str(PARALLEL),
        "XDG_DATA_HOME": str(folder / "data"),
    }  # fmt: skip
    print(f"$ {command}", flush=True)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environ, check=False, text=True, timeout=LIMIT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    print(done.stdout, flush=True)
    if done.returncode:
        raise SystemExit(f"{command}: ended with status {done.returncode}")
    text = done.stdout.replace(f"{folder}/", "")
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n")


def section(number: int, case: Case) -> str:
    """Of the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in HERE.glob("*.py"):
            shutil.copy(program, folder)
        for command in case.before:
            run(command, folder)
        shown = "\n\n".join(f"$ {command}\n{run(command, folder)}" for command in case.commands)
    return f"## {number}. {case.title}\n\n{case.why}\n\n```text\n{shown}\n```\n\n{case.after}\n"


def main() -> None:
    sections = [section(number, case) for number, case in enumerate(CASES, 1)]
    PAGE.write_text("\n".join((HEAD, *sections)))


if __name__ == "__main__":
    main()
