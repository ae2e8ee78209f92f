"""`headrace run`: the program must not be able to tell that anything stood before it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import Headrace, clean_environment, run_from

_SHOW_IGNORED = "grep SigIgn /proc/self/status"


@pytest.mark.parametrize("status", [0, 1, 2, 77, 255])
def test_the_exit_status_is_the_programs(fake_headrace: Headrace, status: int) -> None:
    assert fake_headrace("run", "--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("name", ["KILL", "SEGV", "PIPE", "INT"])
def test_so_is_the_signal_that_ends_it(fake_headrace: Headrace, name: str) -> None:
    done = fake_headrace("run", "--", "sh", "-c", f"kill -{name} $$")
    assert done.returncode == -signal.Signals[f"SIG{name}"]


def test_signals_are_ignored_as_they_would_be_without(fake_headrace: Headrace) -> None:
    direct = subprocess.run(
        ["/bin/sh", "-c", _SHOW_IGNORED], capture_output=True, text=True, check=True
    ).stdout
    assert fake_headrace("run", "--", "sh", "-c", _SHOW_IGNORED).stdout == direct


def test_streams_and_arguments_pass_unchanged(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--", "cat", "-", input="text\n")
    assert (done.stdout, done.stderr) == ("text\n", "")
    odd = ["--stack", "-h", "", "a b", "--", "\udcff"]
    script = "import os, sys; sys.stdout.buffer.write(b'|'.join(map(os.fsencode, sys.argv[1:])))"
    done = fake_headrace("run", "-s", "null", sys.executable, "-c", script, *odd, text=False)
    assert done.stdout == b"|".join(os.fsencode(text) for text in odd)


def test_the_program_replaces_a_quiet_launcher(fake_site: Path) -> None:
    environ = clean_environment() | {"PYTHONPATH": str(fake_site)}
    call = "from headrace.cli import app; app()"
    command = [sys.executable, "-P", "-c", call, "run"]
    program = ["--", "sh", "-c", "echo $$"]
    cases: list[tuple[list[str], dict[str, str]]] = [
        (["--quiet"], {}),
        ([], {"HEADRACE_QUIET": "true"}),
        ([], {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}),
    ]
    for options, more in cases:
        with subprocess.Popen(
            [*command, *options, *program], env=environ | more, stdout=subprocess.PIPE, text=True
        ) as process:
            output, _ = process.communicate()
        assert int(output) == process.pid


def test_the_environment_differs_only_by_the_stack(fake_headrace: Headrace) -> None:
    environ = {
        "LC_ALL": "",
        "LC_CTYPE": "",
        "LANG": "C",
        "ODD": "\udcff \n=",
        "HEADRACE_REPORT": "r",
    }
    done = fake_headrace("run", "--quiet", "--", "env", "-0", env=environ, text=False)
    found = dict(os.fsdecode(entry).split("=", 1) for entry in done.stdout.split(b"\0")[:-1])
    ours = {name: found.pop(name) for name in ("HDF5_PLUGIN_PATH", "HDF5_VOL_CONNECTOR")}
    assert ours["HDF5_VOL_CONNECTOR"] == "headrace_async under_vol=0;under_info={}"
    expected = clean_environment() | environ
    # What the test itself adds on the way.
    for name in ("PYTHONPATH", "COLUMNS", "_", "SHLVL"):
        found.pop(name, None)
        expected.pop(name, None)
    assert found == expected


def test_python_does_not_leave_its_locale_behind(fake_site: Path) -> None:
    environ = {k: v for k, v in clean_environment().items() if not k.startswith(("LC_", "LANG"))}
    environ["PYTHONPATH"] = str(fake_site)
    call = "from headrace.cli import app; app()"
    command = [sys.executable, "-P", "-c", call, "run", "--", "env"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert "HDF5_VOL_CONNECTOR" in done.stdout
    assert "LC_CTYPE" not in done.stdout


def test_a_script_without_a_first_line_runs_as_from_a_shell(
    fake_headrace: Headrace, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$1"; exit 5\n')
    script.chmod(0o755)
    done = fake_headrace("run", "--", str(script), "argument")
    assert (done.returncode, done.stdout) == (5, "argument\n")


def test_what_cannot_be_started(fake_headrace: Headrace, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    orphan = tmp_path / "orphan"
    orphan.write_text("#!/no/such/interpreter\n")
    orphan.chmod(0o755)
    cases = [
        ("no-such-command", 127, "no-such-command: command not found"),
        (f"{plain}/x", 127, "command not found"),
        (str(plain), 126, "Permission denied"),
        (str(tmp_path), 126, "is a directory"),
        (str(orphan), 126, "interpreter in its first line does not exist"),
    ]
    for program, status, message in cases:
        done = fake_headrace("run", "--", program)
        assert (done.returncode, done.stdout) == (status, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["run", "trace", "doctor"])
def test_a_script_without_its_interpreter(
    fake_headrace: Headrace, tmp_path: Path, command: str
) -> None:
    (tmp_path / "script.py").write_text("import sys; sys.exit(3)\n")
    there = str(tmp_path / "bare.py")
    Path(there).write_text("import os  # which a shell takes for a command of its own\n")
    Path(there).chmod(0o755)
    hint = "to run it, put its interpreter in front: python"
    for program, status in (("script.py", 127), ("./script.py", 126), (there, 126)):
        done = fake_headrace(command, "--", program, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        assert f"; {hint} {program}\n" in done.stderr
    done = fake_headrace(command, "--", "other.py", cwd=tmp_path)
    assert "other.py: command not found\n" in done.stderr


def test_a_foreign_connector_is_replaced_with_a_warning(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--", "true", env={"HDF5_VOL_CONNECTOR": "daos"})
    assert done.returncode == 0
    assert done.stderr == (
        "headrace: warning: HDF5_VOL_CONNECTOR=daos in the environment is replaced by the stack\n"
    )


def test_a_configuration_file(fake_headrace: Headrace, tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text(
        'stack = "trace"\n[settings]\nlog_level = "info"\n[layers.trace]\nbudget = "1KiB"\n'
    )
    show = 'echo "$HDF5_VOL_CONNECTOR|$HEADRACE_LOG_LEVEL"'
    done = fake_headrace("run", "--config", str(file), "--", "sh", "-c", show)
    assert done.stdout == "headrace_trace budget=1024;under_vol=0;under_info={}|info\n"
    stack = ["--stack", "trace(budget=7)"]
    done = fake_headrace("run", *stack, "--config", str(file), "--", "sh", "-c", show)
    assert done.stdout == "headrace_trace budget=7;under_vol=0;under_info={}|info\n"


def test_no_program_starts_on_a_stack_that_cannot_work(own_site: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    (own_site / "headrace/lib/plugins/libheadrace_null_vfd.so").unlink()
    config = tmp_path / "bad.toml"
    config.write_text("[layers.trace]\nbudget = 'much'\n")
    cases: list[tuple[list[str], dict[str, str], str]] = [
        (["--stack", "null"], {}, "libheadrace_null_vfd.so is missing"),
        (["--stack", "nul"], {}, "did you mean null?"),
        (["--stack", "trace(budgt=1)"], {}, "did you mean budget?"),
        (
            ["--stack", "trace", "--config", str(config)],
            {},
            f"{config}: setting layers.trace.budget",
        ),
        (["--stack", "trace"], {"HEADRACE_LOG_LEVL": "x"}, "did you mean HEADRACE_LOG_LEVEL?"),
        (["--stack", "trace"], {"HEADRACE_LOG_LEVEL": "x"}, "HEADRACE_LOG_LEVEL"),
        (["--stack", "trace"], {"HDF5_PLUGIN_PRELOAD": "::"}, "HDF5_PLUGIN_PRELOAD"),
    ]
    for options, environ, message in cases:
        done = run_from(own_site, "run", *options, "--", "touch", str(mark), env=environ)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert done.stderr.startswith("headrace: ")
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
    assert not mark.exists()
    assert (
        run_from(own_site, "run", "--stack", "null(seat=vol)", "--", "touch", str(mark)).returncode
        == 0
    )
    assert mark.exists()
