"""The peers for real, at a tiny size: those of the test matrix must all be there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import clean_environment

import headrace
from headrace.bench import peers
from headrace.bench.peers import cache
from headrace.bench.peers.posix import Store
from headrace.bench.peers.workload import Clock, Shape, read_all, write_all

_SHAPE = ["--steps", "3", "--arrays", "2", "--rows", "5", "--columns", "7"]
_BYTES = 3 * 2 * 5 * 7 * 8
_CASES = [case for peer in peers.PEERS if peer.module for case in peer.cases()]


def _start(case: str, folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    where = ["--dir", str(folder), "--samples", str(folder / "samples")]
    package = str(Path(headrace.__path__[0]).parent)
    return subprocess.run(
        peers.command(case, [*where, *_SHAPE], options),
        env=clean_environment() | {"PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=False,
    )


def _sample(folder: Path) -> dict[str, Any]:
    (line,) = (folder / "samples").read_text().splitlines()
    return dict(json.loads(line))


@pytest.mark.parametrize("case", _CASES)
def test_each_peer_stores_the_array(tmp_path: Path, case: str) -> None:
    assert peers.by_case(case)[0].missing() == ""
    done = _start(case, tmp_path, "--baseline", "--sync", "close", "--drop-caches")
    assert (done.returncode, done.stderr) == (0, "")
    sample = _sample(tmp_path)
    assert sample["case"] == case
    assert sample["verified"] is True
    assert sample["bytes"]["written"] == sample["bytes"]["read"] == _BYTES
    assert sample["bytes"]["file"] > 0
    phases = sample["phases"]
    assert {"create", "write", "close", "sync", "open", "read"} <= phases.keys()
    write_side = ("create", "write", "flush", "close", "sync")
    total = sum(phases[name]["max"] for name in write_side)
    assert sample["write_wall"] == pytest.approx(total)
    assert ("baseline" in sample) == (case != "posix-contiguous")
    assert sample["version"]
    assert [each.name for each in tmp_path.iterdir()] == ["samples"]


class _Careless(Store):
    """Loses one element."""

    def write(self, step: int, block: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        if step == 1:
            block[1, 2, 3] = 0
        super().write(step, block)


def test_wrong_data_is_found_and_named(tmp_path: Path) -> None:
    shape = Shape(3, 2, 5, 7)
    store = _Careless(tmp_path / "data", shape, "contiguous")
    write_all(store, shape, Clock())
    with pytest.raises(ValueError, match=r"element \(1, 1, 2, 3\) was read as 0\.0, but 122\.0"):
        read_all(store, shape, Clock())


def test_every_element_differs() -> None:
    shape = Shape(2, 3, 4, 5)
    values = np.concatenate([shape.block(step).ravel() for step in range(2)])
    assert len(np.unique(values)) == 120


def test_a_peer_that_fails_says_so_and_names_its_folder(tmp_path: Path) -> None:
    done = _start("posix-contiguous", tmp_path, "--rows", "-5")
    assert done.returncode == 1
    sample = _sample(tmp_path)
    assert "TypeError: memoryview" in sample["error"]
    assert sample["partial"].endswith("peers-posix-contiguous.partial")
    assert Path(sample["partial"]).is_dir()
    # The next run removes it, as it is marked.
    (tmp_path / "samples").unlink()
    assert _start("posix-contiguous", tmp_path).returncode == 0
    assert not Path(sample["partial"]).exists()


@pytest.mark.parametrize("name", ["peers-posix-contiguous.partial", "peers-posix-contiguous"])
def test_folders_of_others_are_left_alone(tmp_path: Path, name: str) -> None:
    kept = tmp_path / name / "kept"
    kept.parent.mkdir()
    kept.write_text("a user's")
    done = _start("posix-contiguous", tmp_path)
    assert done.returncode == 1
    sample = _sample(tmp_path)
    assert "was not made by headrace-bench; move it away" in sample["error"]
    assert "partial" not in sample
    assert kept.read_text() == "a user's"


def test_caches_count_as_dropped_only_with_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").touch()
    assert cache.drop(tmp_path) == "file"
    (tmp_path / "data").write_bytes(b"x" * 100_000)
    monkeypatch.setattr("os.posix_fadvise", lambda *_: None)
    assert cache.drop(tmp_path) == "no"


def test_a_peer_that_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    zarr = peers.by_case("zarr-gzip")[0]
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert zarr.missing() == "not installed: zarr; pip install zarr"


def test_peers_that_cannot_do_as_asked_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pnetcdf = peers.by_case("pnetcdf-contiguous")[0]
    monkeypatch.setattr("headrace.measuring.programs.bench", lambda *_: Path(sys.executable))
    assert pnetcdf.missing() == ""
    assert "--sync" in pnetcdf.missing(on_disk=True)
