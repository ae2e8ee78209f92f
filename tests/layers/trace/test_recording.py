"""The folder of a trace: what becomes of an earlier one, who tells of it, and why there is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from harness.prefix import Hdf5
from launched import HEADRACE, Launcher

from headrace.cli.recording import Recording, named_after
from headrace.errors import FileError

WRITES = "import h5py\nwith h5py.File('x.h5', 'w') as f:\n    f['d'] = range(100)\n"


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "sim.py").write_text(WRITES)
    return Launcher(tmp_path)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["./sim", "x.h5"], "sim"),
        (["python3", "analysis.py", "other.py"], "analysis"),
        (["python3", "-m", "pkg.tool", "-v"], "pkg.tool"),
        (["mpirun", "-n", "4", "/bin/cat", "x"], "cat"),
        (["mpiexec", "--map-by", "core", "-np", "2", "nice", "-n", "3", "/bin/cat"], "cat"),
        (["srun", "-n", "4", "python3", "sim.py"], "sim"),
        (["env", "A=1", "/bin/cat"], "cat"),
        (["mpirun", "-n", "4", "/none/at-all"], "mpirun"),
    ],
)
def test_a_trace_is_named_by_the_program(
    command: list[str], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for each in ("mpirun", "mpiexec", "srun"):
        (tmp_path / each).write_text("#!/bin/sh\n")
        (tmp_path / each).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert str(named_after(command)) == f"{name}.hrtrace"


def traces(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_trace_stays_until_there_is_another(tmp_path: Path) -> None:
    folder = tmp_path / "sim.hrtrace"
    folder.mkdir()
    (folder / "vm.1.trace").write_bytes(b"HRTS of before")
    nothing = Recording(folder, {})
    assert traces(folder) == ["vm.1.trace.old"], "it is no part of the new one"
    assert not nothing.end()
    assert traces(folder) == ["vm.1.trace"]
    assert "still the trace of an earlier run" in nothing.notes(["true"], {}, nothing=True)
    another = Recording(folder, {})
    (folder / "vm.2.trace").write_bytes(b"HRTS")
    assert another.end()
    assert traces(folder) == ["vm.2.trace"]


def test_a_folder_that_was_made_for_nothing_goes(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "runs/of/today.hrtrace", {})
    assert recording.folder.is_dir()
    assert not recording.end()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_killed_leaves_no_mixture(tmp_path: Path) -> None:
    (tmp_path / "vm.1.trace.old").write_bytes(b"HRTS")
    (tmp_path / "vm.2.trace").write_bytes(b"HRTS")
    (tmp_path / "ended.3").touch()
    recording = Recording(tmp_path, {})
    (tmp_path / "vm.3.trace").write_bytes(b"HRTS")
    assert recording.end()
    assert traces(tmp_path) == ["vm.3.trace"]


def test_the_first_rank_does_what_is_done_once(tmp_path: Path) -> None:
    """The others may have begun to record before it looks at the folder."""
    folder = tmp_path / "sim.hrtrace"
    folder.mkdir()
    (folder / "vm.1.trace").write_bytes(b"HRTS")
    os.utime(folder / "vm.1.trace", (1, 1))
    (folder / "vm.2.trace").write_bytes(b"HRTS of an MPI run just before")
    second = Recording(folder, {"PMI_SIZE": "2", "PMI_RANK": "1"})
    (folder / "vm.3.trace").write_bytes(b"")
    first = Recording(folder, {"PMI_SIZE": "2", "PMI_RANK": "0"})
    (folder / "vm.3.trace").write_bytes(b"HRTS")
    (folder / "vm.4.trace").write_bytes(b"HRTS")
    assert [first.tells, second.tells] == [True, False]
    assert second.end()
    assert first.end()
    assert traces(folder) == ["vm.3.trace", "vm.4.trace"]


@pytest.mark.parametrize("where", ["/proc/x.hrtrace", "/dev/null/x.hrtrace", "file/x.hrtrace"])
def test_a_folder_that_cannot_be_written_is_told_before(where: str, launcher: Launcher) -> None:
    (launcher.folder / "file").touch()
    done = launcher(HEADRACE, "trace", "-o", where, "--", sys.executable, "sim.py")
    assert done.status == 2
    assert "no trace can be written there" in done.err.decode()
    assert "--output" in done.err.decode()
    assert not (launcher.folder / "x.h5").exists()
    with pytest.raises(FileError):
        Recording(Path("/proc/x.hrtrace"), {})


def test_a_trace_that_is_not_there_is_no_program(launcher: Launcher) -> None:
    done = launcher(HEADRACE, "trace", "sim.hrtrace")
    assert done.status == 2
    assert "there is no such trace" in done.err.decode()


@pytest.mark.parametrize("word", ["trace", "tune"])
def test_another_stack_inside_is_told(word: str, launcher: Launcher) -> None:
    inner: list[str | Path] = [HEADRACE, "run", "--stack", "null", "--", sys.executable, "sim.py"]
    done = launcher(HEADRACE, word, "--", *inner)
    assert "another stack" in done.err.decode()
    assert "opened no HDF5 file" not in done.err.decode()
    assert done.status == (0 if word == "trace" else 1)
    assert not list(launcher.folder.glob("*.hrtrace"))


def test_a_program_without_hdf5_is_told_of_doctor(launcher: Launcher) -> None:
    done = launcher(HEADRACE, "trace", "--", "true")
    assert done.status == 0
    assert "has opened no HDF5 file" in done.err.decode()
    assert "headrace doctor" in done.err.decode()
    assert not list(launcher.folder.glob("*.hrtrace"))


def test_ranks_tell_once(launcher: Launcher) -> None:
    """Each starts the command of its own, and all record in one folder."""
    program: list[str | Path] = [HEADRACE, "trace", "--", sys.executable, "sim.py"]
    own = "__import__('os').environ['OMPI_COMM_WORLD_RANK'] + '.h5'"
    (launcher.folder / "sim.py").write_text(WRITES.replace("'x.h5'", own))
    for _ in range(2):
        done = launcher(*Hdf5("1.14.5-openmpi").mpiexec, "-n", "3", *program)
        assert done.status == 0, done.text
        told = done.err.decode()
        assert told.count("the program read") == 1
        assert "3 processes, 3 files" in told
        assert len(traces(launcher.folder / "sim.hrtrace")) == 3
