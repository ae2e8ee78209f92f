"""Statements for shells, evaluated by the shells."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support import run_from

from headrace.cli import shells
from headrace.errors import HeadraceError

# What each shell does to statements that a command prints.
_EVALUATE = {
    "bash": 'eval "$({})"',
    "sh": 'eval "$({})"',
    "fish": "{} | source",
    "csh": 'eval "`{}`"',
}
_VALUES = {
    "PLAIN": "headrace_null under_vol=0;under_info={under_vol=0;under_info={}}",
    "SOME_PATH": "/a b/c:/d:/e",
    "QUOTES": 'it\'s "quoted" `backquoted`',
    "SIGNS": "$HOME $(id) !! !x \\ \\\\ \\n * ? [a] ~ # % & | < > ;",
    "BLANKS": "  two  blanks\tand a tab ",
    "EMPTY": "",
    "LETTERS": "äöü€",
}


def _evaluated(shell: str, file: Path, environ: dict[str, str]) -> dict[str, str]:
    """The environment of a program that the shell starts after it evaluated the file's lines."""
    found = shutil.which(shell)
    assert found, f"the tests need {shell}"
    line = _EVALUATE[shell].format(f"cat {file}") + "; env -0"
    done = subprocess.run([found, "-c", line], env=environ, capture_output=True, check=True)
    assert done.stderr == b""
    entries = (os.fsdecode(entry).partition("=") for entry in done.stdout.split(b"\0"))
    return {name: text for name, _, text in entries}


@pytest.mark.parametrize("shell", _EVALUATE)
def test_values_arrive_unchanged(shell: str, tmp_path: Path) -> None:
    file = tmp_path / "statements"
    values = dict(_VALUES) if shell == "csh" else {**_VALUES, "LINES_": "a\nb\n"}
    file.write_text(shells.statements(shell, values, ["GONE"]))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GONE": "1", "LC_ALL": "C.UTF-8"}
    result = _evaluated(shell, file, environ)
    assert {name: result.get(name) for name in values} == values
    assert "GONE" not in result


@pytest.mark.parametrize("shell", _EVALUATE)
def test_removing_what_is_not_there_is_no_error(shell: str, tmp_path: Path) -> None:
    file = tmp_path / "statements"
    file.write_text(shells.statements(shell, {"A": "1"}, ["NEVER_SET"]))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    assert _evaluated(shell, file, environ)["A"] == "1"


def test_csh_refuses_what_it_cannot_carry() -> None:
    with pytest.raises(HeadraceError, match="line break in the value of A"):
        shells.statements("csh", {"A": "a\nb"})


def test_an_unknown_shell_lists_the_known() -> None:
    with pytest.raises(HeadraceError, match=r"did you mean bash\? Existing: bash, csh, fish"):
        shells.statements("bsh", {})


@pytest.mark.parametrize("shell", _EVALUATE)
def test_the_command_prints_what_run_would_set(shell: str, fake_site: Path, tmp_path: Path) -> None:
    stack = "trace(label='it\\'s 100% !'),null(seat=vfd)"
    file = tmp_path / "statements"
    file.write_text(run_from(fake_site, "env", "--stack", stack, "--shell", shell).stdout)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    evaluated = _evaluated(shell, file, environ)
    started = run_from(fake_site, "run", "--stack", stack, "--", "env", "-0").stdout
    expected = {
        name: text
        for name, _, text in (entry.partition("=") for entry in started.split("\0"))
        if name.startswith("HDF5_")
    }
    assert len(expected) == 4
    assert {name: evaluated.get(name) for name in expected} == expected
