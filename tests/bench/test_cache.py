"""The benchmark of the layer cache: what it measures, and what it finds wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.cache.cases import COPY, LARGE, OURS, TENSORSTORE  # noqa: E402
from bench.cache.child import verify  # noqa: E402
from bench.cache.scale import main as scale  # noqa: E402


def test_measures_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/cache/run.py", "--quick", "--repeats", "1", "--dir",
         tmp_path, "--output", output, "--only", "loaders/fork-16-*", "once/16-*"],
        check=False, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    samples = json.loads((output / "results.json").read_text())["samples"]
    assert not [each for each in samples if "error" in each]
    ways = {each["stack"] for each in samples if each["kernel"] == "loaders"}
    assert ways == {"native", OURS, LARGE, "zarr-python", TENSORSTORE, COPY}
    kept = [each["shared_bytes"] for each in samples if each["stack"] == OURS]
    assert min(kept) > 32 * 224 * 224 * 3
    assert "Claims" in (output / "README.md").read_text()


def test_a_wrong_sample_is_found() -> None:
    with pytest.raises(ValueError, match="sample 1 is wrong"):
        verify(lambda _: np.zeros(3, np.uint8), [0xFF41D912, 5], [0, 1])


def test_more_ranks_gain_more(tmp_path: Path) -> None:
    page = tmp_path / "scale.md"
    scale(["--ranks", "32", "320", "--output", str(page)])
    few, many = (row.split("|") for row in page.read_text().splitlines()[-2:])
    for ratio in (4, 7):
        assert 0 < float(few[ratio]) < float(many[ratio])
