"""The example connector log_calls, as the development build has it, under the h5py wheel."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import pytest
from harness.program import text_of
from install.commands import output_of

pytestmark = pytest.mark.timeout(120)

EXPECTED = Path(__file__).with_name("log_calls.txt")
LINE = re.compile(r"(\d+\.\d{6}) (\d+) (\w+ .*), (\d+\.\d) us")


def write_read_and_miss() -> None:
    with h5py.File("out.h5", "w") as file:
        x = file.create_dataset("g/x", (10, 10), "f8")
        x[2:4] = 1
        x.attrs["units"] = 1
    with h5py.File("out.h5") as file:
        assert file["g/x"][2:4].sum() == 20
        assert "units" in file["g/x"].attrs
        assert "g/y" not in file
    try:
        h5py.File("missing.h5")
    except FileNotFoundError:
        print("missing")


def logged(root: Path, cwd: Path, stack: str, log: Path, **extra: str) -> list[str]:
    """Runs the program under a stack; the calls of the log without times and process."""
    plugins = root / "build/dev/lib/plugins"
    assert (plugins / "libheadrace_log_calls.so").exists(), "run `make setup-test`"
    bin_ = root / ".venv/bin"
    program = (bin_ / "python", "-c", text_of(write_read_and_miss))
    command = (bin_ / "headrace", "run", "--stack", stack, "--", *program)
    output = output_of(*command, cwd=cwd, HDF5_PLUGIN_PATH=str(plugins), **extra)
    assert output == "missing\n"
    matches = [(line, LINE.fullmatch(line)) for line in log.read_text().splitlines()]
    malformed = [line for line, match in matches if match is None]
    assert not malformed
    return [match[3] for _, match in matches if match]


def without_plumbing(calls: list[str]) -> list[str]:
    """What a reader looks at first."""
    return [call for call in calls if not call.startswith(("wrap_", "info_", "introspect_"))]


def test_each_call_is_explained(root: Path, tmp_path: Path) -> None:
    calls = logged(root, tmp_path, "log_calls(file=calls.log)", tmp_path / "calls.log")
    assert without_plumbing(calls) == EXPECTED.read_text().splitlines()


def test_plumbing_is_logged_too(root: Path, tmp_path: Path) -> None:
    calls = logged(root, tmp_path, "log_calls", tmp_path / "log_calls.log")
    names = {call.split()[0] for call in calls}
    assert names >= {"wrap_get_wrap_ctx", "wrap_free_wrap_ctx", "info_copy", "info_free"}


def test_above_null_it_says_the_same(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "from environment.log"
    calls = logged(
        root,
        tmp_path,
        "log_calls,null",
        log,
        LOG_CALLS_FILE=log.name,
        HEADRACE_NULL_SEAT="vol",
    )
    assert without_plumbing(calls) == EXPECTED.read_text().splitlines()
