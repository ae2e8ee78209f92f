"""Two traces side by side, and how like each other runs are."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from launched import HEADRACE, Launcher
from layers.trace.conftest import Traced

import headrace.trace
from headrace.trace.analysis import compare, neighbours, signature
from headrace.trace.views import matrix


def traced(layer: Traced, name: str, program: str) -> headrace.trace.Trace:
    layer.python(program, f"output={name};")
    return headrace.trace.open(layer.folder / name)


PROGRAM = """
with h5py.File("x.h5", "w") as f:
    for i in range({datasets}):
        d = f.create_dataset(f"d{{i}}", ({rows}, 100))
        for row in range({rows}):
            d[row] = np.arange(100)
"""


def test_changes_are_those_of_each_object(layer: Traced) -> None:
    few = traced(layer, "few", PROGRAM.format(datasets=2, rows=10))
    many = traced(layer, "many", PROGRAM.format(datasets=3, rows=20))
    found = {each.path: each for each in compare.changes(few, many)}
    assert (found["/d1"].before.written, found["/d1"].after.written) == (4000 * 2, 8000 * 2)
    assert (found["/d2"].before.calls, found["/d2"].after.written) == (0, 16000)
    times = [abs(each.seconds) for each in compare.changes(few, many)]
    assert times == sorted(times, reverse=True)


def test_runs_that_do_the_same_are_near(layer: Traced) -> None:
    rows = PROGRAM.format(datasets=2, rows=200)
    below = "under_vol=7206;under_info={under_vol=0;under_info={}}"
    traces = [
        traced(layer, "rows", rows),
        traced(layer, "again", rows),
        traced(Traced(layer.folder, below=below), "async", rows),
        traced(layer, "tiny", PROGRAM.format(datasets=300, rows=1)),
    ]
    apart = signature.distances([signature.signature(each) for each in traces])
    assert np.allclose(apart, apart.T)
    assert apart[0, 1] == apart[0, 2] == 0
    assert apart[0, 3] > 0.1


SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str, runs: int) -> tuple[list[str], list[list[float]]]:
    """The rows' labels and the numbers in the cells, of which each pair of runs has one."""
    root = ElementTree.fromstring(text)  # noqa: S314, it is our own
    cells = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "cell"]
    places = [(int(each.get("y", "")), int(each.get("x", ""))) for each in cells]
    assert len(set(places)) == len(cells) == runs**2
    assert places == sorted(places)
    texts = [
        (each.get("class"), each.get("x"), each.text or "") for each in root.iter(f"{SVG}text")
    ]
    values = [float(text) for kind, _, text in texts if kind == "value"]
    for cell, value in zip(cells, values, strict=True):
        assert float(cell.get("fill-opacity", "")) == pytest.approx(1 - value)
    labels = [text for kind, x, text in texts if kind is None and x == "10"][1:]
    return labels, [values[i * runs : i * runs + runs] for i in range(runs)]


def labels_of(picture: Path, runs: int) -> list[str]:
    return drawn(picture.read_text(encoding="utf-8"), runs)[0]


def test_the_picture_has_a_cell_for_each_pair() -> None:
    names = ["<a>&", "b\x01\udc80", "c" * 200]
    apart = np.array([[0, 0.25, 1], [0.25, 0, 0.5], [1, 0.5, 0]])
    labels, values = drawn(matrix.picture(names, apart), 3)
    assert labels == ["1 <a>&", "2 b\ufffd\ufffd", "3 \u2026" + "c" * 60]
    assert values == apart.tolist()


def test_the_commands(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path)
    (tmp_path / "a.py").write_text("import h5py, numpy as np" + PROGRAM.format(datasets=1, rows=5))
    (tmp_path / "b.py").write_text("import h5py, numpy as np" + PROGRAM.format(datasets=1, rows=9))
    for name in ("a.py", "b.py"):
        assert launcher(HEADRACE, "trace", "--", sys.executable, name).status == 0
    told = launcher(HEADRACE, "trace", "diff", "a.hrtrace", "b.hrtrace").out.decode()
    assert "/d0" in told
    assert "3.91 KiB → 7.03 KiB" in told
    told = launcher(HEADRACE, "trace", "similar", "a.hrtrace", "b.hrtrace").out.decode()
    assert "0.000" in told
    draw = ("--picture", "runs.svg")
    done = launcher(HEADRACE, "trace", "similar", *draw, "a.hrtrace", "b.hrtrace")
    assert done.status == 0, done.text
    assert labels_of(launcher.folder / "runs.svg", 2) == ["1 a.hrtrace", "2 b.hrtrace"]
    done = launcher(HEADRACE, "trace", "similar", *draw, "--with-kernels", "a.hrtrace")
    assert done.status == 0, done.text
    first, *kernels = labels_of(launcher.folder / "runs.svg", 4)
    near = neighbours.nearest(signature.signature(headrace.trace.open(tmp_path / "a.hrtrace")))
    assert first == "1 a.hrtrace"
    assert kernels == [f"{i} {each.name}" for i, each in enumerate(near[:3], 2)]
    missing = launcher(HEADRACE, "trace", "similar", "a.hrtrace", "missing.hrtrace")
    assert missing.status == 2
    assert "missing.hrtrace" in missing.err.decode()
