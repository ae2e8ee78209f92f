"""One variable that names a stack, one that turns all layers off, and stacks of none."""

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import Headrace, clean_environment, run_from

_SHOW = ("sh", "-c", 'echo "$HDF5_VOL_CONNECTOR|$HDF5_DRIVER"')
_OURS = ("HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG", "HDF5_PLUGIN_PATH")


def _evaluated(text: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What a shell has exported when it has evaluated that."""
    command = ["/bin/sh", "-c", 'eval "$0"; env -0', text]
    done = subprocess.run(command, env=dict(environ), check=True, capture_output=True)
    entries = (os.fsdecode(entry).partition("=") for entry in done.stdout.split(b"\0")[:-1])
    return {name: value for name, _, value in entries}


def test_a_variable_names_the_stack(fake_headrace: Headrace, tmp_path: Path) -> None:
    environ = {"HEADRACE_STACK": "trace(budget=7)"}
    mine = "headrace_trace budget=7;under_vol=0;under_info={}|\n"
    assert fake_headrace("run", "--", *_SHOW, env=environ).stdout == mine
    assert shlex.quote(mine[:-2]) in fake_headrace("env", env=environ).stdout
    # What is given beats a configuration file, and that the environment.
    config = tmp_path / "site.toml"
    config.write_text('stack = "null(seat=vol)"\n')
    done = fake_headrace("run", "-c", str(config), "--", *_SHOW, env=environ)
    assert done.stdout.startswith("headrace_null ")
    done = fake_headrace("run", "-s", "model", "--", *_SHOW, env=environ)
    assert done.stdout == "|headrace_model\n"
    assert "headrace_async" in fake_headrace("env", env={"HEADRACE_STACK": ""}).stdout


def test_a_wrong_one_is_told_in_a_few_words(fake_headrace: Headrace) -> None:
    done = fake_headrace("run", "--", "true", env={"HEADRACE_STACK": "tracee"})
    assert done.returncode == 2
    assert done.stderr.startswith(
        "headrace: HEADRACE_STACK in the environment: stack: unknown layer 'tracee'; "
    )
    done = fake_headrace("run", "--", "true", env={"HEADRACE_STAK": "trace"})
    assert done.stderr == (
        "headrace: environment: unknown setting 'HEADRACE_STAK'; did you mean HEADRACE_STACK? "
        "`headrace settings` lists them.\n"
    )


@pytest.mark.parametrize("stack", ["null", "model", "nonsense("])
def test_off_turns_everything_off(fake_headrace: Headrace, stack: str) -> None:
    environ = {"HEADRACE": "off", "HEADRACE_NONSENSE": "1", "HDF5_VOL_CONNECTOR": "daos"}
    done = fake_headrace("run", "-s", stack, "--", *_SHOW, env=environ)
    assert (done.returncode, done.stdout) == (0, "daos|\n")
    assert done.stderr == "headrace: warning: HEADRACE=off in the environment: no layers\n"
    done = fake_headrace("env", "-s", stack, env=environ)
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing was recorded" in fake_headrace("trace", "--", "true", env=environ).stderr


def test_off_works_without_plug_ins(own_site: Path) -> None:
    (own_site / "headrace/lib/libheadrace_core.so").unlink()
    done = run_from(own_site, "run", "--", "echo", "x", env={"HEADRACE": "off"})
    assert (done.returncode, done.stdout) == (0, "x\n")


@pytest.mark.parametrize("off", [["--unset"], ["--stack", "native"]])
@pytest.mark.parametrize("inherited", [None, "", "/some/filters"])
def test_env_can_be_undone(fake_headrace: Headrace, off: list[str], inherited: str | None) -> None:
    before = {k: v for k, v in clean_environment().items() if k not in _OURS}
    if inherited is not None:
        before["HDF5_PLUGIN_PATH"] = inherited
    for stack in ("null", "null(seat=vfd)", "model,trace"):
        on = _evaluated(fake_headrace("env", "-s", stack, env=before).stdout, before)
        assert any(name in on for name in _OURS[:2])
        ended = _evaluated(fake_headrace("env", *off, env=on).stdout, on)
        found, wanted = ({k: e.get(k) for k in _OURS} for e in (ended, before))
        if inherited == "":  # searches nothing, where an unset one would search the usual places
            wanted["HDF5_PLUGIN_PATH"] = found["HDF5_PLUGIN_PATH"]
        assert found == wanted
    foreign = before | {"HDF5_VOL_CONNECTOR": "daos", "HDF5_DRIVER": "mpio"}
    assert fake_headrace("env", *off, env=foreign).stdout == ""


def test_native_is_a_stack_of_no_layers(fake_headrace: Headrace) -> None:
    environ = {"HDF5_VOL_CONNECTOR": "headrace_null x", "HDF5_DRIVER": "headrace_null"}
    done = fake_headrace("run", "--stack", "native", "--", *_SHOW, env=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "|\n", "")
    assert fake_headrace("run", "--", *_SHOW, env={"HEADRACE_STACK": "native"}).stdout == "|\n"
    for stack in ("native,null", "null,native"):
        done = fake_headrace("run", "--stack", stack, "--", *_SHOW)
        assert done.returncode == 2
        assert "native stands alone" in done.stderr
