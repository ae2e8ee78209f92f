"""headrace.enable(), each time in a fresh process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PROGRAMS, clean_environment, run_from

Python = Callable[..., None]

_PROGRAM = [sys.executable, "-P", str(PROGRAMS / "enabling.py")]
_NULL = "headrace_null under_vol=0;under_info={}"


@pytest.fixture
def python(fake_site: Path) -> Python:
    """Runs a function of the program with headrace on made-up plug-ins; it has to succeed."""

    def run(*words: str) -> None:
        done = subprocess.run(
            [*_PROGRAM, *words],
            env=clean_environment() | {"PYTHONPATH": str(fake_site)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return run


def test_it_sets_what_run_sets(python: Python, fake_site: Path) -> None:
    for spec in ("null", "trace(label='a b'),null(seat=vfd)"):
        done = run_from(fake_site, "run", "--stack", spec, "--", "env", "-0")
        lines = dict(e.split("=", 1) for e in done.stdout.split("\0") if e.startswith("HDF5_"))
        python("compare", spec, repr(lines))


def test_settings_are_given_by_python_name(python: Python) -> None:
    python("settings")


def test_mistakes_change_nothing(python: Python) -> None:
    python("mistakes")


def test_it_comes_too_late_once_hdf5_is_initialised(python: Python, fake_hdf5: Path) -> None:
    python("initialised", str(fake_hdf5), _NULL)


def test_a_driver_chain_is_left_for_a_connector(python: Python) -> None:
    python("driver_chain")


def test_under_run_the_same_stack_is_in_force_already(fake_site: Path, fake_hdf5: Path) -> None:
    program = [*_PROGRAM, "in_force", str(fake_hdf5)]
    done = run_from(fake_site, "run", "--stack", "null", "--", *program)
    assert done.returncode == 0, done.stderr


def test_a_variable_names_the_stack(python: Python) -> None:
    python("by_variable")


def test_a_variable_turns_it_off(python: Python, fake_hdf5: Path) -> None:
    python("off", str(fake_hdf5))


def test_in_a_notebook_the_kernel_has_to_be_started_again(python: Python, fake_hdf5: Path) -> None:
    python("notebook", str(fake_hdf5))


def test_a_child_inherits_the_stack(python: Python, fake_hdf5: Path) -> None:
    python("inherit", str(fake_hdf5), _NULL)
