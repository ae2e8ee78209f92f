"""The probe library: it tells about a program and leaves the program as it was."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import FAKE_HDF5, Compiler

# A program that uses a libhdf5 and then does what END says.
_PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void H5Fopen(void);
int main(int argc, char **argv) {
  (void)argc; (void)argv;
  H5Fopen();
  END;
  return 3;
}
"""

Program = Callable[..., Path]
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
def program(compiler: Compiler, fake_hdf5: Path, tmp_path: Path) -> Program:
    def make(end: str, *flags: str) -> Path:
        link = [str(fake_hdf5), f"-Wl,-rpath,{fake_hdf5.parent}"]
        return compiler(tmp_path / "program", _PROGRAM.replace("END", end), *link, *flags)

    return make


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
        ("", 3, "exit", 0),
        ("exit(4)", 4, "exit", 0),
        ("_exit(5)", 5, "_exit", 0),
        ("_Exit(6)", 6, "_exit", 0),
        ("abort()", -signal.SIGABRT, "signal", signal.SIGABRT),
        ("*(volatile int *)0 = 1", -signal.SIGSEGV, "signal", signal.SIGSEGV),
        ("raise(SIGFPE)", -signal.SIGFPE, "signal", signal.SIGFPE),
        ("kill(getpid(), SIGSEGV)", -signal.SIGSEGV, "signal", signal.SIGSEGV),
        ("close(0); close(1); close(2)", 3, "exit", 0),
        ("for (int i = 0; i < 1000; ++i) close(i)", 3, "exit", 0),
        ('clearenv(); (void)chdir("/")', 3, "exit", 0),
    ],
)
def test_every_end_is_told_and_left_as_it_is(  # noqa: PLR0917
    program: Program, watch: Watch, fake_hdf5: Path, end: str, status: int, how: str, number: int
) -> None:
    file = program(end, "-Wno-unused-result")
    seen = watch(file)
    assert seen.status == status
    line = seen.end()
    assert (line["how"], line["signal"], line["exe"]) == (how, number, str(file))
    (copy,) = line["copies"]
    assert copy["path"] == str(fake_hdf5)
    assert copy["version"] == "2.0.0"
    assert copy["initialised"] is True
    assert copy["parallel"] is False
    # A process that crashes, or is in a hurry, is not asked to call anything.
    assert copy["threadsafe"] is (True if how == "exit" else None)


def test_a_handler_of_the_programs_own_is_left_to_it(program: Program, watch: Watch) -> None:
    handler = "signal(SIGSEGV, _exit); *(volatile int *)0 = 1"
    seen = watch(program(handler))
    assert seen.status == signal.SIGSEGV
    assert seen.end()["how"] == "_exit"


def test_an_ignored_crash_signal_stays_ignored(program: Program, watch: Watch) -> None:
    seen = watch("env", "--ignore-signal=ABRT", program("raise(SIGABRT)"))
    assert seen.status == 3


@pytest.mark.parametrize("fork", ["fork", "vfork"])
def test_children_tell_for_themselves(program: Program, watch: Watch, fork: str) -> None:
    body = f"if ({fork}() == 0) _exit(9); int status; wait(&status)"
    seen = watch(program(body + "; exit(WEXITSTATUS(status))", "-Wno-deprecated-declarations"))
    assert seen.status == 9
    child, parent = seen.ends()
    assert (child["how"], parent["how"]) == ("_exit", "exit")
    assert child["pid"] != parent["pid"]
    assert child["copies"] == []
    assert parent["copies"][0]["path"] in child["objects"]


def test_many_threads_that_load_libraries_while_children_are_forked(
    program: Program, watch: Watch
) -> None:
    # A child has a copy of the loader's lists as some thread was changing them, and of its lock.
    body = """
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, load, 0);
    for (int i = 0; i < 300; ++i) {
      pid_t child = fork();
      if (child == 0) _exit(0);
      int status;
      waitpid(child, &status, 0);
      if (status != 0) _exit(1);
    }
    _exit(8)"""
    helper = ["-include", "pthread.h", "-include", "dlfcn.h", "-include", "stdlib.h"]
    load = 'load=({void*l(void*a){for(;;)dlclose(dlopen("libm.so.6",1));return a;}l;})'
    seen = watch(program(body, *helper, f"-D{load}", "-Wno-trampolines", "-pthread"))
    assert seen.status == 8
    assert len(seen.ends()) == 301


def test_exec_starts_anew_under_the_same_pid(program: Program, watch: Watch) -> None:
    seen = watch(program('execl("/bin/true", "true", (char *)0)'))
    assert seen.status == 0
    first, second, end = seen.lines
    assert [line["event"] for line in seen.lines] == ["start", "start", "end"]
    assert first["pid"] == second["pid"] == end["pid"]
    assert end["exe"] == str(Path("/bin/true").resolve())
    assert end["copies"] == []
    assert any("libc.so" in name for name in end["objects"])


def test_a_killed_process_has_only_a_start(program: Program, watch: Watch) -> None:
    seen = watch(program("raise(SIGKILL)"))
    assert seen.status == -signal.SIGKILL
    assert [line["event"] for line in seen.lines] == ["start"]


def test_the_environment_is_told_as_the_program_left_it(program: Program, watch: Watch) -> None:
    body = 'setenv("HDF5_DRIVER", "a\\"b\\\\\\n", 1); unsetenv("HDF5_PLUGIN_PATH")'
    seen = watch(program(body), HDF5_PLUGIN_PATH="/p", HDF5_VOL_CONNECTOR="x y")
    told = seen.end()["environment"]
    assert told["HDF5_DRIVER"] == 'a"b\\\n'
    assert told["HDF5_PLUGIN_PATH"] is None
    assert told["HDF5_VOL_CONNECTOR"] == "x y"


def test_without_its_variable_it_is_silent(program: Program, watch: Watch) -> None:
    seen = watch("env", "-u", "_HEADRACE_PROBE", program("abort()"))
    assert seen.status == -signal.SIGABRT
    assert [line["exe"] for line in seen.lines] == [str(Path("/usr/bin/env").resolve())]


def test_a_copy_inside_the_program_itself(compiler: Compiler, watch: Watch, tmp_path: Path) -> None:
    source = FAKE_HDF5 + "int main(void) { H5Fopen(); return 0; }"
    file = compiler(tmp_path / "program", source, '-DVERSION="1.14.5-2"', "-rdynamic")
    (copy,) = watch(file).end()["copies"]
    assert copy["path"] == str(file)
    assert copy["version"] == "1.14.5-2"


def test_it_needs_nothing_but_the_c_library(probe: Path) -> None:
    done = subprocess.run(
        ["/usr/bin/env", "ldd", str(probe)], capture_output=True, text=True, check=True
    )
    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert {name for name in names if "/" not in name} <= {"linux-vdso.so.1", "libc.so.6"}
