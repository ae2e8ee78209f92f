"""Makes python/headrace/trace/analysis/neighbours.json anew.

    .venv/bin/python scripts/neighbours.py

It runs each case of each serial kernel in C++ of headrace-bench once under the layer `trace`, which
takes some minutes. Needs Headrace to be installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import headrace.trace
from headrace.measuring import programs
from headrace.trace.analysis import neighbours
from headrace.trace.analysis.signature import Signature, signature

KERNELS = (
    "iotest", "vpic", "bdcats", "hacc", "e3sm", "amrex", "cgns", "sw4", "ior", "ml", "metadata",
)  # fmt: skip
KEPT = Path(__file__).parents[1] / "python/headrace/trace/analysis" / neighbours.FILE.name


def command(kernel: str, *words: str) -> list[str]:
    library = programs.hdf5(None, parallel=False).file
    return [str(programs.bench(None)), kernel, "--quick", "--hdf5", str(library), *words]


def cases(kernel: str) -> list[str]:
    listed = subprocess.run(command(kernel, "--list"), check=True, capture_output=True, text=True)
    return [json.loads(line)["case"] for line in listed.stdout.splitlines()]


def traced(kernel: str, case: str, *words: str) -> Signature:
    """The signature of a run of the case."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "case.hrtrace"
        data = Path(folder) / "data"
        data.mkdir()
        tracer = [str(Path(sys.executable).with_name("headrace")), "trace", "-o", str(output), "--"]
        program = command(kernel, "--only", case, "--dir", str(data), *words)
        subprocess.run([*tracer, *program], check=True, capture_output=True, timeout=120)
        return signature(headrace.trace.open(output))


if __name__ == "__main__":
    found = {
        f"{kernel}/{case}": traced(kernel, case) for kernel in KERNELS for case in cases(kernel)
    }
    text = json.dumps(neighbours.kept(found))
    KEPT.write_text(text.replace('{"cases"', '\n{"cases"') + "\n", encoding="utf-8")
