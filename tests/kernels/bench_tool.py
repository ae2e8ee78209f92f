"""Starts headrace-bench, and looks at what it leaves with readers that know nothing of it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.prefix import ROOT, Hdf5
from harness.ranks import launch
from harness.run import Result, run
from harness.stack import CLEAN

SERIAL = Hdf5("1.14.5-openmpi")
GOLDEN = Path(__file__).parent / "golden"
# They read a part of what they write, or read it several times.
READS_OTHERWISE = {"bdcats", "files", "ml"}


def program() -> Path:
    found = ROOT / "build/dev/bin/headrace-bench"
    assert found.exists(), f"{found} is missing: `make ctest` builds it"
    return found


@dataclass(frozen=True)
class Bench:
    """headrace-bench on one HDF5 with one number of ranks; 0 is a serial run, without MPI."""

    folder: Path
    hdf5: Hdf5 = SERIAL
    ranks: int = 0
    environ: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: object, limit: int = 120) -> Result:
        launcher = launch(self.hdf5, self.ranks) if self.ranks else []
        library = self.hdf5.prefix / "lib/libhdf5.so"
        common = ["--hdf5", str(library), "--dir", str(self.folder)]
        command = [*launcher, str(program()), *common, *map(str, arguments)]
        return run(command, env={**CLEAN, **self.environ}, cwd=self.folder, limit=limit)

    def samples(self, *arguments: object, limit: int = 120) -> list[dict[str, Any]]:
        """The samples of a run that must succeed, verified by the kernel itself."""
        descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".jsonl")
        os.close(descriptor)
        done = self.start("--samples", name, *arguments, limit=limit)
        assert done.status == 0, done.text
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        samples: list[dict[str, Any]] = [json.loads(line) for line in lines]
        assert samples, "no sample"
        for sample in samples:
            assert sample["verified"] is True
            assert sample["ranks"] == max(1, self.ranks)
            written, read = sample["bytes"]["written"], sample["bytes"]["read"]
            assert min(written, read) > 0
            assert written == read or sample["kernel"] in READS_OTHERWISE
        return samples

    def kept(self, kernel: str, case: str) -> Path:
        """The folder that --keep has left."""
        return self.folder / f"{kernel}-{case}"


def h5dump_header(file: Path) -> str:
    """`h5dump -pH` of a file: objects, types, shapes, layouts and filters, without offsets."""
    command = [str(SERIAL.program("h5dump")), "-p", "-H", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    return "\n".join(line for line in lines if "OFFSET" not in line) + "\n"


def same_as_golden(name: str, text: str) -> None:
    """Compares with golden/NAME; GOLDEN=write makes it anew, to be looked at and committed."""
    golden = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), f"differs from {golden.name}"


_MASK = (1 << 64) - 1


def key_of(name: str) -> int:
    """FNV-1a, as in tools/bench/pattern.hpp."""
    value = 0xCBF29CE484222325
    for letter in name.encode():
        value = ((value ^ letter) * 0x100000001B3) & _MASK
    return value


def bits(key: int, index: int) -> int:
    """What stands at an element: all 64 bits, of which an integer keeps the lowest."""
    x = (key + index * 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def double_at(key: int, index: int) -> float:
    return float((bits(key, index) >> 11) / (1 << 53))


def float_at(key: int, index: int) -> float:
    return float((bits(key, index) >> 40) / (1 << 24))
