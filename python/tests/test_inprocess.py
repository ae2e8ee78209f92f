"""headrace.enable(), each time in a fresh process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import clean_environment, run_from

Python = Callable[..., None]

_PRELUDE = """
import ctypes, os, sys
import headrace
def stack():
    return {k: v for k, v in os.environ.items() if k.startswith(("HDF5_", "HEADRACE_"))}
def raises(kind, *arguments, **settings):
    before = stack()
    try:
        headrace.enable(*arguments, **settings)
    except kind as error:
        assert stack() == before
        return str(error)
    raise AssertionError("nothing was raised")
"""
_NULL = "headrace_null under_vol=0;under_info={}"


@pytest.fixture
def python(fake_site: Path) -> Python:
    """Runs lines of Python with headrace on made-up plug-ins; they have to succeed."""

    def run(code: str, *arguments: str, **environ: str) -> None:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PRELUDE + code, *arguments],
            env=clean_environment() | {"PYTHONPATH": str(fake_site)} | environ,
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
        code = "headrace.enable(sys.argv[1])\nassert repr(stack()) == sys.argv[2], stack()"
        python(code, spec, repr(lines))


def test_settings_are_given_by_python_name(python: Python) -> None:
    python("""
headrace.enable("trace,trace(depth=1)", log_level="info", trace_budget=1024, trace_depth=3)
assert os.environ["HEADRACE_LOG_LEVEL"] == "info"
assert "HEADRACE_TRACE_BUDGET" not in os.environ
assert os.environ["HDF5_VOL_CONNECTOR"] == (
    "headrace_trace budget=1024;depth=3;under_vol=7210;"
    "under_info={budget=1024;depth=1;under_vol=0;under_info={}}")
assert headrace.settings.log_level == "info"
""")


def test_mistakes_change_nothing(python: Python) -> None:
    python("""
E = headrace
assert "did you mean null" in raises(E.SpecError, "nul")
assert "did you mean log_level" in raises(E.SettingError, "null", log_levl="info")
assert "'loud' is not one of" in raises(E.SettingError, "null", log_level="loud")
assert "layer trace is not in the stack" in raises(E.SettingError, "null", trace_depth=1)
os.environ["HEADRACE_NONSENSE"] = "1"
assert "HEADRACE_NONSENSE" in raises(E.SettingError, "null")
""")


def test_it_comes_too_late_once_hdf5_is_initialised(python: Python, fake_hdf5: Path) -> None:
    code = """
library = ctypes.CDLL(sys.argv[1])
headrace.enable("trace")          # loaded is not initialised
headrace.enable("null")           # and until then one can change one's mind
assert os.environ["HDF5_VOL_CONNECTOR"] == sys.argv[2]
library.H5Fopen()
headrace.enable("null")           # the stack is in force
os.environ["HDF5_PLUGIN_PATH"] += ":/added/by/a/package"
headrace.enable("null")
text = raises(headrace.AlreadyInitialisedError, "trace")
assert sys.argv[1] in text and "before `import h5py`" in text
raises(headrace.AlreadyInitialisedError, "null", log_level="info")
"""
    python(code, str(fake_hdf5), _NULL)


def test_a_driver_chain_is_left_for_a_connector(python: Python) -> None:
    python("""
headrace.enable("model")
assert os.environ["HDF5_DRIVER"] == "headrace_model"
headrace.enable("trace")
assert "HDF5_DRIVER" not in os.environ and "HDF5_DRIVER_CONFIG" not in os.environ
""")


def test_under_run_the_same_stack_is_in_force_already(fake_site: Path, fake_hdf5: Path) -> None:
    code = (
        _PRELUDE
        + """
ctypes.CDLL(sys.argv[1]).H5Fopen()
headrace.enable("null")
raises(headrace.AlreadyInitialisedError, "trace")
"""
    )
    program = [sys.executable, "-P", "-c", code, str(fake_hdf5)]
    done = run_from(fake_site, "run", "--stack", "null", "--", *program)
    assert done.returncode == 0, done.stderr


def test_a_child_inherits_the_stack(python: Python, fake_hdf5: Path) -> None:
    code = """
import multiprocessing
def child():
    ctypes.CDLL(sys.argv[1]).H5Fopen()
    headrace.enable("null")
    assert os.environ["HDF5_VOL_CONNECTOR"] == sys.argv[2]
headrace.enable("null")
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
sys.exit(process.exitcode)
"""
    python(code, str(fake_hdf5), _NULL)
