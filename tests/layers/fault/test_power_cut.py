"""A power cut leaves what it may leave, to the byte.

The calls are made through HDF5's public H5FD functions, so that the test knows each write.
"""

from __future__ import annotations

import importlib.util
import json
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from harness.prefix import ROOT
from harness.run import Command, Result, run
from harness.stack import stack_env
from layers.fault import disk_model
from layers.fault.conftest import FaultLayer, settings

Call = list[Any]
Options = dict[str, Any]
OUTCOMES = ["lost", "torn", "reordered", "mixed"]
CREATE, MODIFY = 0x13, 0x01


def of_h5py() -> Path:
    h5py = importlib.util.find_spec("h5py")
    assert h5py is not None
    assert h5py.origin is not None
    (found,) = Path(h5py.origin).parents[1].glob("h5py.libs/libhdf5-*.so*")
    return found


H5PY = of_h5py()


def make_calls(folder: Path, calls: list[Call], hdf5: Path = H5PY, **options: object) -> Result:
    env = stack_env("fault(seat=vfd)", None, **settings(folder / "journal", **options))
    command: Command = [sys.executable, Path(__file__).with_name("raw_calls.py"), hdf5]
    return run([*command, json.dumps(calls)], env=env, cwd=folder)


class Scene:
    """A file with synced content, random unsynced changes, and the calls for all that."""

    def __init__(self, seed: int, file: int = 0, name: str = "x") -> None:
        chance = random.Random(seed)  # noqa: S311
        self.content = chance.randbytes(chance.randrange(1, 3000))
        self.changes: list[disk_model.Change] = []
        self.setup: list[Call] = [
            ["open", name, CREATE],
            ["write", file, 0, list(self.content)],
            ["flush", file, False],
        ]
        self.calls: list[Call] = []
        size = len(self.content)
        for _ in range(chance.randrange(1, 5)):
            if chance.random() < 0.25:
                size = (size + chance.randrange(1, 4000)) % 4500
                self.changes.append(("resize", size))
                self.calls.append(["truncate", file, size])
            else:
                offset = chance.randrange(4000)
                data = chance.randbytes(chance.randrange(1, 1700))
                self.changes.append(("write", offset, data))
                self.calls.append(["write", file, offset, list(data)])
                size = max(size, offset + len(data))

    def all_calls(self) -> list[Call]:
        return [*self.setup, *self.calls, ["flush", 0, False]]

    def last_operation(self) -> tuple[str, int]:
        """The last write, if no change comes after it; else the flush after all changes."""
        kinds = [change[0] for change in self.changes]
        return ("write", 1 + kinds.count("write")) if kinds[-1] == "write" else ("flush", 2)

    def allowed(self, outcome: str) -> set[bytes]:
        return disk_model.states(self.content, self.changes, outcome)

    def after_all(self) -> bytes:
        return disk_model.after(self.content, self.changes)

    def after(self, kept: list[list[int]]) -> bytes:
        """The content by the journal's account."""
        whole = [self.changes[number] for number, _ in kept]
        cut = [
            (*change[:2], change[2][:size]) if change[0] == "write" else change
            for change, (_, size) in zip(whole, kept, strict=True)
        ]
        return disk_model.after(self.content, cut)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_file_is_in_an_allowed_state(tmp_path: Path, fault: FaultLayer, outcome: str) -> None:
    """Half of the cuts come with the last write under way, the others with all writes made."""
    file = tmp_path / "x"
    seen = set()
    for seed in range(24):
        scene = Scene(seed)
        op, first = scene.last_operation()
        options: Options = {"op": op, "first": first, "outcome": outcome, "seed": seed}
        done = make_calls(tmp_path, scene.all_calls(), kind="power_cut", **options)
        assert done.status == -signal.SIGKILL, done.text
        found = file.read_bytes()
        assert found in scene.allowed(outcome), f"seed {seed}"
        line = fault.journal[-1]
        assert (line["operation"], line["number"]) == (op, first)
        (told,) = line["files"]
        assert (told["file"], told["changes"]) == (str(file), len(scene.changes))
        assert found == scene.after(told["kept"]), f"seed {seed}: the journal tells what was done"
        lost = found == scene.content
        seen.add("lost" if lost else "all" if found == scene.after_all() else "some")
    assert seen == ({"lost"} if outcome == "lost" else {"lost", "some", "all"})


def test_only_the_process_ends(tmp_path: Path) -> None:
    """With outcome=kept the operation that is hit is not made, all before it is."""
    for seed in range(6):
        scene = Scene(seed)
        op, first = scene.last_operation()
        options: Options = {"op": op, "first": first, "outcome": "kept"}
        done = make_calls(tmp_path, scene.all_calls(), kind="power_cut", **options)
        assert done.status == -signal.SIGKILL, done.text
        made = scene.changes[:-1] if op == "write" else scene.changes
        assert (tmp_path / "x").read_bytes() == disk_model.after(scene.content, made)


@pytest.mark.parametrize("name", ["1.14.5-openmpi", "2.2.0-mpich"])
def test_other_libraries(tmp_path: Path, name: str) -> None:
    library = ROOT / "build/hdf5" / name / "install/lib/libhdf5.so"
    for seed in range(3):
        scene = Scene(seed)
        calls = scene.all_calls()
        options: Options = {"op": "flush", "first": 2, "outcome": "mixed", "seed": seed}
        done = make_calls(tmp_path, calls, library, kind="power_cut", **options)
        assert done.status == -signal.SIGKILL, done.text
        assert (tmp_path / "x").read_bytes() in scene.allowed("mixed")


def test_all_files_are_cut_at_one_moment(tmp_path: Path, fault: FaultLayer) -> None:
    first, second = Scene(1, 0, "x"), Scene(2, 1, "y")
    calls = [*first.setup, *second.setup, *first.calls, *second.calls, ["flush", 1, False]]
    options: Options = {"op": "flush", "first": 2, "file": "y", "outcome": "lost"}
    done = make_calls(tmp_path, calls, kind="power_cut", **options)
    assert done.status == -signal.SIGKILL, done.text
    assert (tmp_path / "x").read_bytes() == first.content
    assert (tmp_path / "y").read_bytes() == second.content
    assert [Path(told["file"]).name for told in fault.journal[-1]["files"]] == ["x", "y"]


def test_seeds(tmp_path: Path) -> None:
    """The same one leads to the same file, others to other files."""
    scene = Scene(5)
    calls = scene.all_calls()
    found = []
    for seed in [1, 1, 2, 3, 4, 5, 6]:
        options: Options = {"op": "flush", "first": 2, "outcome": "mixed", "seed": seed}
        make_calls(tmp_path, calls, kind="power_cut", **options)
        found.append((tmp_path / "x").read_bytes())
    assert found[0] == found[1]
    assert len(set(found)) >= 3


SAFE = [["open", "x", CREATE], ["write", 0, 0, [1] * 1000]]
LATER = [["open", "y", CREATE], ["flush", 1, False]]


@pytest.mark.parametrize(
    ("sync", "calls", "kept"),
    [
        ("close", [["flush", 0, False]], True),
        ("close", [["flush", 0, True]], True),
        ("close", [["close", 0]], True),
        ("close", [], False),
        ("flush", [["flush", 0, False]], True),
        ("flush", [["flush", 0, True]], False),
        ("flush", [["flush", 0, True], ["close", 0]], False),
        ("none", [["flush", 0, False], ["flush", 0, True], ["close", 0]], False),
    ],
)
def test_sync_points(tmp_path: Path, sync: str, calls: list[Call], kept: bool) -> None:
    options: Options = {"op": "flush", "file": "y", "sync": sync}
    done = make_calls(tmp_path, [*SAFE, *calls, *LATER], kind="power_cut", **options)
    assert done.status == -signal.SIGKILL, done.text
    assert (tmp_path / "x").read_bytes() == (b"\1" * 1000 if kept else b"")


def test_a_second_handle_is_no_second_disk(tmp_path: Path) -> None:
    """HDF5 opens a file that is open once more and closes that again, to compare the two."""
    calls = [*SAFE, ["open", "x", MODIFY], ["close", 1], ["flush", 0, False]]
    make_calls(tmp_path, calls, kind="power_cut", op="flush")
    assert (tmp_path / "x").read_bytes() == b""


def test_the_process_may_go_on_without_power(tmp_path: Path) -> None:
    scene = Scene(3)
    calls = scene.all_calls()
    options: Options = {"op": "flush", "first": 2, "outcome": "reordered", "then": "error"}
    for more in (["write", 0, 0, [7]], ["truncate", 0, 5], ["open", "z", CREATE], ["close", 0]):
        done = make_calls(tmp_path, [*calls, more], kind="power_cut", **options)
        assert (done.status, int(done.out)) == (0, len(calls) - 1), done.text
        assert "injected fault: power cut at matching operation 2, flush of file" in done.text
        tolerant = [*calls[:-1], ["try_flush", 0], more]
        late = make_calls(tmp_path, tolerant, kind="power_cut", **options)
        assert (late.status, int(late.out)) == (0, len(calls)), late.text
        assert "injected fault: the power was cut before this" in late.text
        assert (tmp_path / "x").read_bytes() in scene.allowed("reordered")
        assert not (tmp_path / "z").exists()
