"""The notebook that analyses a trace: its cells do what their text says."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from harness.prefix import ROOT
from harness.run import run
from harness.stack import CLEAN
from launched import HEADRACE

NOTEBOOK = ROOT / "examples/trace/trace.ipynb"
BIN = HEADRACE.parent
ASKED = 8 * 2048 * 8  # bytes of the rows that the notebook's program reads


def cells_of(notebook: Path) -> list[Any]:
    """Those of code."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def executed(folder: Path) -> list[Any]:
    """The cells of code with their outputs."""
    own = {name: str(folder) for name in ("TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "HOME")}
    path = f"{BIN}{os.pathsep}{CLEAN['PATH']}"
    done = folder / "executed.ipynb"
    result = run(
        [BIN / "jupyter-execute", f"--output={done}", NOTEBOOK],
        env={**CLEAN, **own, "PATH": path},
        cwd=folder,
        limit=60,
    )
    assert result.status == 0, result.text
    return cells_of(done)


def output(cells: list[Any], source: str) -> str:
    """What the cell with this in its source has shown as text."""
    cell = next(cell for cell in cells if source in "".join(cell["source"]))
    shown = (each.get("text") or each["data"]["text/plain"] for each in cell["outputs"])
    return "\n".join("".join(each) for each in shown)


@pytest.mark.timeout(90)
def test_it_finds_what_its_program_does(tmp_path: Path) -> None:
    cells = executed(tmp_path)
    assert "the program read 128 KiB" in output(cells, "headrace trace --")
    bytes_ = output(cells, "by_dataset")
    read = next(line for line in bytes_.splitlines() if "dataset_read" in line)
    assert re.search(rf"\b8 +{ASKED} +16\.0\b", read), bytes_
    assert "means = [field[row].mean()" in output(cells, "by_line").splitlines()[1]
    assert "raw data" in output(cells, "edges")
    figure = next(cell for cell in cells if "plt.show()" in cell["source"])
    assert any("image/png" in each["data"] for each in figure["outputs"])
    assert "its chunk cache does not keep them" in output(cells, "advise(")
    log = output(cells, "POSIX_BYTES_READ")
    for request in ("read", "write"):
        sums = re.search(rf"^{request} +(\d+) +(\d+)$", log, re.M)
        assert sums, log
        assert int(sums[1]) == int(sums[2]) > ASKED


def test_it_is_kept_without_outputs() -> None:
    for cell in cells_of(NOTEBOOK):
        assert not cell["outputs"]
        assert cell["execution_count"] is None
