"""The benchmark of the layer object: what it measures, and what it finds wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.object.cases import GROWTH, HSDS, OURS, PLAIN, cases  # noqa: E402
from bench.object.claims import OPERATIONS, judge  # noqa: E402
from bench.object.kernels import patterns, tree  # noqa: E402


def test_measures_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/object/run.py", "--quick", "--repeats", "1", "--dir",
         tmp_path, "--output", output, "--hsds", tmp_path / "none", "--only", "tree/*",
         "chunks/*-MiB", "growth/links", "patterns/native-files"],
        check=False, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    samples = json.loads((output / "results.json").read_text())["samples"]
    assert {each["stack"] for each in samples} == {"native", OURS, PLAIN, HSDS}
    assert ["not installed" in each["skipped"] for each in samples if "skipped" in each] == [True]
    both = [each for each in samples if each["kernel"] in ("tree", "chunks", "patterns")]
    assert all(each["write_wall"] > 0 and each["read_wall"] > 0
               for each in both if "skipped" not in each)  # fmt: skip
    page = (output / "README.md").read_text()
    assert "## Targets" in page
    assert "HSDS is not installed" in page


@pytest.mark.parametrize("pattern", [each.name for each in cases(quick=True)
                                     if each.kernel == "patterns"])  # fmt: skip
def test_a_pattern_reads_what_it_wrote_and_sees_what_it_did_not(
    tmp_path: Path, pattern: str
) -> None:
    given = {"pattern": pattern, "count": 10}
    patterns.write(tmp_path / "x", given)
    assert patterns.read(tmp_path / "x", given)["read_wall"] > 0
    for file in [tmp_path / "x"] if (tmp_path / "x").is_file() else [*(tmp_path / "x").iterdir()]:
        with h5py.File(file, "r+") as changed:
            for dataset in changed.values():
                dataset[...] = dataset[...] + 77
    with pytest.raises(ValueError, match="is wrong"):
        patterns.read(tmp_path / "x", given)


def test_a_wrong_tree_is_found(tmp_path: Path) -> None:
    given = {"count": 3}
    tree.write(tmp_path / "x.h5", given)
    tree.read(tmp_path / "x.h5", given)
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["00000/00001/x"].attrs["number"] = 7
    with pytest.raises(ValueError, match="the tree is wrong"):
        tree.read(tmp_path / "x.h5", given)


def test_growth_is_of_the_many_beside_the_few() -> None:
    def sample(stack: str, few: float, many: float) -> dict[str, Any]:
        of = [{f"{name}_wall": each for name in OPERATIONS} for each in (few, many)]
        return {"kernel": GROWTH, "case": "links", "stack": stack, "repeat": 0, "of": of,
                "warmup": False}  # fmt: skip

    def met(few: float, many: float) -> bool:
        samples = [sample("native", 1, 1), sample(OURS, few, many)]
        return next(each.met for each in judge(samples) if each.claim.startswith("growth of open"))

    assert met(0.01, 0.019)
    assert not met(0.01, 0.021)
    assert met(1e-6, 1e-4)
