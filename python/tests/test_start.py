"""What starting `headrace` costs, told by what it imports."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from support import clean_environment

from headrace.cli import commands, options
from headrace.cli.trace import commands as trace_commands

# Each takes longer to import than a plain start may, or brings others that do.
_HEAVY = (
    "asyncio", "bz2", "click", "dataclasses", "difflib", "inspect", "jinja2", "logging", "lzma",
    "numpy", "pyarrow", "pydantic", "random", "rich", "shutil", "socket", "subprocess", "tempfile",
    "tomllib", "typer",
)  # fmt: skip
_MOST = 125  # modules; 108, of which 27 are ours, when this was written
_SHOW = """
import sys, os
def show(*_):
    os.write(2, (" ".join(sys.modules) + "\\n").encode())
os.execvpe = show  # in the program's place
from headrace.cli import app
try:
    app()
finally:
    show()
"""


def _imported(site: Path, *words: str, **environ: str) -> set[str]:
    given = clean_environment() | {"PYTHONPATH": str(site)} | environ
    # Without site-packages' own start-up files, which are not ours.
    command = [sys.executable, "-S", "-c", _SHOW, *words]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--", "true"],
        ["run", "-q", "-s", "null", "true", "--stats"],
        ["trace", "--", "true"],
        ["trace", "run", "--output", "t.hrtrace", "true"],
        ["env"],
        ["env", "--shell=csh", "--stack", "trace(budget=1MiB),null"],
        ["env", "--unset"],
    ],
)
def test_a_plain_start_imports_little(fake_site: Path, tmp_path: Path, words: list[str]) -> None:
    imported = _imported(fake_site, *words, TMPDIR=str(tmp_path))
    assert "headrace.plan" in imported
    roots = {name.partition(".")[0] for name in imported}
    assert not roots & set(_HEAVY)
    assert len(imported) < _MOST, sorted(imported)


def test_importing_the_package_imports_next_to_nothing() -> None:
    code = "import sys; a = set(sys.modules); import headrace; print(*(set(sys.modules) - a))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(Path(options.__file__).parents[2])},
                          check=True)  # fmt: skip
    assert [name for name in done.stdout.split() if name.startswith("headrace")] == ["headrace"]


def _command(group: typer.Typer, name: str) -> Any:
    return typer.main.get_command(group).commands[name]  # type: ignore[attr-defined]


def test_typer_has_the_same_options() -> None:
    """It reads mistakes and what asks for help, and must know no more or less than `options`."""
    declared = {
        "run": _command(commands.app, "run"),
        "env": _command(commands.app, "env"),
        "trace": _command(trace_commands.app, "run"),
    }
    assert declared.keys() == options.OF_COMMAND.keys()
    for name, command in declared.items():
        found = {each.name: each for each in command.params if each.param_type_name == "option"}
        assert found.keys() == options.OF_COMMAND[name].keys()
        for key, option in options.OF_COMMAND[name].items():
            assert tuple(found[key].opts) == option.names
            assert found[key].is_flag == (option.metavar is None)
        takes = any(each.name == "command" for each in command.params)
        assert takes == (name in options.RUNS_PROGRAM)


def test_the_functions_take_them() -> None:
    from headrace.cli import env, run  # noqa: PLC0415
    from headrace.cli.trace import record as trace  # noqa: PLC0415

    for name, module in {"run": run, "env": env, "trace": trace}.items():
        taken = set(inspect.signature(module.run).parameters) - {"command"}
        assert taken == options.OF_COMMAND[name].keys()


@pytest.mark.parametrize(
    ("command", "words", "found"),
    [
        ("run", ["--", "a", "--stats"], {"command": ["a", "--stats"]}),
        ("run", ["-q", "a", "--", "b"], {"quiet": True, "command": ["a", "--", "b"]}),
        ("run", ["--stack=x(a=b)", "a"], {"stack": "x(a=b)", "command": ["a"]}),
        ("run", ["-sx", "-c", "f", "a"], {"stack": "x", "config": "f", "command": ["a"]}),
        ("env", ["--shell", "csh"], {"shell": "csh"}),
        ("run", [], None),
        ("run", ["--help"], None),
        ("run", ["-h", "a"], None),
        ("run", ["--nonsense", "a"], None),
        ("run", ["--stack"], None),
        ("env", ["word"], None),
    ],
)
def test_words_are_read(command: str, words: list[str], found: dict[str, Any] | None) -> None:
    assert options.read(command, words) == found
