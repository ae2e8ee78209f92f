"""Which datasets of a file the async layer takes over, and why not the others."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.errors import FileError
from headrace.plan import Plan

_SCRIPT: Final = Path(__file__).with_name("datasets_child.py")

_TAKEN: Final = "yes"
_WORDS: Final = {
    "": _TAKEN,
    "chunk_cache": "whole chunks only: a chunk, or HDF5's own cache of them, is larger than the "
    "layer's chunk_cache",
    "connector_below": "no: the connector below offers no chunks",
    "datatype": "no: its elements have references or parts of variable length",
    "file": "no: the layer has no filters here; its options say filters=false or seat=vfd",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the layer says of one dataset.

    Attributes:
        dataset: Its path in the file.
        layout: How HDF5 stores it.
        chunks: The shape of a chunk, if it has chunks.
        filters: By name, in the order in which they are applied to write.
        why_not: The layer's word, "" when it takes the dataset over.
    """

    dataset: str
    layout: str
    chunks: tuple[int, ...] | None
    filters: tuple[str, ...]
    why_not: str

    @property
    def text(self) -> str:
        """Whether it is taken over, or why not."""
        if self.why_not == "layout":
            return f"no: it is {self.layout}, not chunked"
        if self.why_not == "filters":
            if not self.filters:
                return "no: it has no filters, so there is nothing to compress"
            return "no: the layer leaves one of its filters to HDF5, or HDF5 lacks it"
        return _WORDS.get(self.why_not, f"no: {self.why_not}")


def examine(file: str, plan: Plan) -> list[Verdict]:
    """Asks the layer, by h5py in a process under the stack; FileError when that cannot be."""
    if importlib.util.find_spec("h5py") is None:
        raise FileError("--file needs h5py, which is not installed")
    done = subprocess.run(
        [sys.executable, "-P", str(_SCRIPT), file],
        env=plan.apply(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FileError(f"{file}: the process that reads it failed: {last[0]}")
    answer = json.loads(lines[-1])
    if "error" in answer:
        raise FileError(f"{file}: {answer['error']}")
    found = answer["datasets"]
    if any(one["why_not"] is None for one in found):
        raise FileError(f"there is no async layer in the stack {plan.spec}, or only its driver")
    return [
        Verdict(
            one["dataset"],
            one["layout"],
            None if one["chunks"] is None else tuple(one["chunks"]),
            tuple(one["filters"]),
            one["why_not"],
        )
        for one in found
    ]
