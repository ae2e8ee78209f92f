"""The probe library: it tells about a program and leaves the program as it was."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import Compiler

Watch = Callable[..., "Seen"]


class Seen:
    """What became of a program and what was told about it."""

    def __init__(self, status: int, lines: list[dict[str, Any]]) -> None:
        self.status = status
        self.lines = lines

    def ends(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == "end"]

    def end(self) -> dict[str, Any]:
        (line,) = self.ends()
        return line


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> Path:
    return compiler.probe(tmp_path_factory.mktemp("probe") / "libheadrace_probe.so")


@pytest.fixture
def watch(probe: Path, tmp_path: Path) -> Watch:
    def run(*command: Path | str, **environ: str) -> Seen:
        file = tmp_path / "lines"
        file.unlink(missing_ok=True)
        watched = {"LD_PRELOAD": str(probe), "_HEADRACE_PROBE": str(file)} | environ
        done = subprocess.run(command, env=os.environ | watched, check=False, timeout=60)
        text = file.read_text() if file.exists() else ""
        return Seen(done.returncode, [json.loads(line) for line in text.splitlines()])

    return run


@pytest.mark.parametrize(
    ("end", "status", "how", "number"),
    [
        ("return", 3, "exit", 0),
        ("exit", 4, "exit", 0),
        ("_exit", 5, "_exit", 0),
        ("_Exit", 6, "_exit", 0),
        ("abort", -signal.SIGABRT, "signal", signal.SIGABRT),
        ("crash", -signal.SIGSEGV, "signal", signal.SIGSEGV),
        ("raise-SIGFPE", -signal.SIGFPE, "signal", signal.SIGFPE),
        ("kill", -signal.SIGSEGV, "signal", signal.SIGSEGV),
        ("close-streams", 3, "exit", 0),
        ("close-all", 3, "exit", 0),
        ("lose-the-variables", 3, "exit", 0),
    ],
)
def test_every_end_is_told_and_left_as_it_is(  # noqa: PLR0917
    program: Path, watch: Watch, fake_hdf5: Path, end: str, status: int, how: str, number: int
) -> None:
    seen = watch(program, end)
    assert seen.status == status
    line = seen.end()
    assert (line["how"], line["signal"], line["exe"]) == (how, number, str(program))
    (copy,) = line["copies"]
    assert copy["path"] == str(fake_hdf5)
    assert copy["version"] == "2.0.0"
    assert copy["initialised"] is True
    assert copy["parallel"] is False
    # A process that crashes, or is in a hurry, is not asked to call anything.
    assert copy["threadsafe"] is (True if how == "exit" else None)


def test_a_handler_of_the_programs_own_is_left_to_it(program: Path, watch: Watch) -> None:
    seen = watch(program, "crash-with-a-handler")
    assert seen.status == signal.SIGSEGV
    assert seen.end()["how"] == "_exit"


def test_an_ignored_crash_signal_stays_ignored(program: Path, watch: Watch) -> None:
    seen = watch("env", "--ignore-signal=ABRT", program, "raise-SIGABRT")
    assert seen.status == 3


@pytest.mark.parametrize("fork", ["fork", "vfork"])
def test_children_tell_for_themselves(program: Path, watch: Watch, fork: str) -> None:
    seen = watch(program, fork)
    assert seen.status == 9
    child, parent = seen.ends()
    assert (child["how"], parent["how"]) == ("_exit", "exit")
    assert child["pid"] != parent["pid"]
    assert child["copies"] == []
    assert parent["copies"][0]["path"] in child["objects"]


def test_many_threads_that_load_libraries_while_children_are_forked(
    compiler: Compiler, watch: Watch, fake_hdf5: Path, tmp_path: Path
) -> None:
    # A child has a copy of the loader's lists as some thread was changing them, and of its lock.
    link = [str(fake_hdf5), f"-Wl,-rpath,{fake_hdf5.parent}", "-pthread"]
    seen = watch(compiler(tmp_path / "program", "loads_and_forks.c", *link))
    assert seen.status == 8
    assert len(seen.ends()) == 301


def test_exec_starts_anew_under_the_same_pid(program: Path, watch: Watch) -> None:
    seen = watch(program, "exec")
    assert seen.status == 0
    first, second, end = seen.lines
    assert [line["event"] for line in seen.lines] == ["start", "start", "end"]
    assert first["pid"] == second["pid"] == end["pid"]
    assert end["exe"] == str(Path("/bin/true").resolve())
    assert end["copies"] == []
    assert any("libc.so" in name for name in end["objects"])


def test_a_killed_process_has_only_a_start(program: Path, watch: Watch) -> None:
    seen = watch(program, "raise-SIGKILL")
    assert seen.status == -signal.SIGKILL
    assert [line["event"] for line in seen.lines] == ["start"]


def test_the_environment_is_told_as_the_program_left_it(program: Path, watch: Watch) -> None:
    seen = watch(program, "change-variables", HDF5_PLUGIN_PATH="/p", HDF5_VOL_CONNECTOR="x y")
    told = seen.end()["environment"]
    assert told["HDF5_DRIVER"] == 'a"b\\\n'
    assert told["HDF5_PLUGIN_PATH"] is None
    assert told["HDF5_VOL_CONNECTOR"] == "x y"


def test_without_its_variable_it_is_silent(program: Path, watch: Watch) -> None:
    seen = watch("env", "-u", "_HEADRACE_PROBE", program, "abort")
    assert seen.status == -signal.SIGABRT
    assert [line["exe"] for line in seen.lines] == [str(Path("/usr/bin/env").resolve())]


def test_a_copy_inside_the_program_itself(compiler: Compiler, watch: Watch, tmp_path: Path) -> None:
    file = compiler.hdf5(tmp_path / "program", "1.14.5-2", "uses_hdf5.c", "-rdynamic")
    (copy,) = watch(file).end()["copies"]
    assert copy["path"] == str(file)
    assert copy["version"] == "1.14.5-2"


def test_it_needs_nothing_but_the_c_library(probe: Path) -> None:
    done = subprocess.run(
        ["/usr/bin/env", "ldd", str(probe)], capture_output=True, text=True, check=True
    )
    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert {name for name in names if "/" not in name} <= {"linux-vdso.so.1", "libc.so.6"}
